//! Client credentials and introspection over HTTP on loopback, against node-oidc-provider. Started
//! by `loopback/run`.
//!
//! The server has one core, the load another. A bare hyper server with a response of the same
//! length shows the share of HTTP.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench reports on the terminal, and ends where something is not as it was set up"
)]

#[path = "loopback/load.rs"]
mod load;
#[path = "loopback/server.rs"]
mod server;

use std::{env, path::Path};

use benches::{Served, median, on_first_core, runtime};

use crate::load::{Rate, Work};

const ROUNDS: usize = 5;
/// Folder in which `loopback/run` has installed the peer.
const PEER: &str = "LOOPBACK_PEER";
/// Tells a second process of this program which server to run.
const SERVE: &str = "LOOPBACK_SERVE";

/// A server, and the requests for it.
struct Contest {
    name: &'static str,
    serve: &'static str,
    work: Work,
    /// One rate per round.
    rates: Vec<Rate>,
}

const CONTESTS: [(&str, &str, Work); 7] = [
    (
        "client credentials, EdDSA JWT, ours",
        "ours jwt",
        Work::ClientCredentials,
    ),
    (
        "client credentials, EdDSA JWT, node-oidc-provider",
        "peer jwt",
        Work::ClientCredentials,
    ),
    (
        "client credentials, opaque, ours",
        "ours opaque",
        Work::ClientCredentials,
    ),
    (
        "client credentials, opaque, node-oidc-provider",
        "peer opaque",
        Work::ClientCredentials,
    ),
    ("introspection, opaque, ours", "ours opaque", Work::Introspection),
    (
        "introspection, opaque, node-oidc-provider",
        "peer opaque",
        Work::Introspection,
    ),
    (
        "bare hyper, a body of the same length",
        "bare",
        Work::ClientCredentials,
    ),
];

fn start(serve: &str, peer: &str) -> Served {
    let mut command = on_first_core();
    match serve.strip_prefix("peer ") {
        Some(format) => command
            .arg("node")
            .arg(Path::new(peer).join("provider.mjs"))
            .arg(format)
            .env("NODE_ENV", "production"),
        None => command
            .arg(env::current_exe().expect("this program"))
            .env(SERVE, serve),
    };
    Served::start(command)
}

fn main() -> std::io::Result<()> {
    let runtime = runtime()?;
    if let Ok(serve) = env::var(SERVE) {
        return runtime.block_on(server::serve(&serve));
    }
    let Ok(peer) = env::var(PEER) else {
        println!("skipped: loopback/run installs the peer and starts this");
        return Ok(());
    };
    let mut contests = CONTESTS.map(|(name, serve, work)| Contest {
        name,
        serve,
        work,
        rates: Vec::new(),
    });
    for _ in 0..ROUNDS {
        for contest in &mut contests {
            let server = start(contest.serve, &peer);
            let path = |ours, theirs| {
                if contest.serve.starts_with("peer") {
                    theirs
                } else {
                    ours
                }
            };
            let introspect = path("/introspect", "/token/introspection");
            let rate = runtime.block_on(load::rate(&server, contest.work, introspect));
            contest.rates.push(rate);
        }
    }
    println!("medians of {ROUNDS} rounds: answers a second, and a second of the server's processor time");
    for Contest { name, rates, .. } in contests {
        let wall = median(rates.iter().map(|rate| rate.wall).collect());
        let processor = rates.iter().map(|rate| rate.processor);
        let (least, most) = processor
            .clone()
            .fold((f64::MAX, 0.0_f64), |(least, most), rate| {
                (least.min(rate), most.max(rate))
            });
        let processor = median(processor.collect());
        println!("{name}: {wall:.0}, {processor:.0} ({least:.0} to {most:.0})");
    }
    Ok(())
}
