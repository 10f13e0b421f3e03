//! Authorization servers over HTTP on loopback: ours on memory, SQLite and PostgreSQL, and
//! node-oidc-provider on memory. Started by `loopback/run`; the argument is the number of rounds.
//!
//! The server has one core, the load another. The suite's adapter and plain hyper, both with a
//! fixed response, show the share of HTTP.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench reports on the terminal, and ends where something is not as it was set up"
)]

#[path = "loopback/issuer.rs"]
mod issuer;
#[path = "loopback/load.rs"]
mod load;
#[path = "loopback/server.rs"]
mod server;

use std::env;
use std::path::Path;

use benches::{Schema, Served, median, on_first_core, runtime};
use tokio::runtime::Runtime;

use crate::load::{Paths, Rate, Work};

const ROUNDS: usize = 5;
/// Folder in which `loopback/run` has installed the peer.
const PEER: &str = "LOOPBACK_PEER";
/// Tells a second process of this program which server to run.
const SERVE: &str = "LOOPBACK_SERVE";
/// Database of that server: a path or a URL.
const DATABASE: &str = "LOOPBACK_DATABASE";

/// Work, its server, and the name of the server's row.
const CONTESTS: [(Work, &str, &str); 16] = [
    (Work::ClientCredentials, "hyper", "plain hyper"),
    (Work::ClientCredentials, "adapter", "adapter-hyper alone"),
    (Work::ClientCredentials, "memory jwt", "ours, EdDSA JWT"),
    (
        Work::ClientCredentials,
        "peer jwt",
        "node-oidc-provider, EdDSA JWT",
    ),
    (Work::ClientCredentials, "memory opaque", "ours, opaque"),
    (
        Work::ClientCredentials,
        "peer opaque",
        "node-oidc-provider, opaque",
    ),
    (Work::ClientCredentials, "sqlite opaque", "ours, opaque, SQLite"),
    (
        Work::ClientCredentials,
        "postgres opaque",
        "ours, opaque, PostgreSQL",
    ),
    (Work::Introspection, "memory opaque", "ours"),
    (Work::Introspection, "peer opaque", "node-oidc-provider"),
    (Work::Refresh, "memory opaque", "ours"),
    (Work::Refresh, "peer opaque", "node-oidc-provider"),
    (Work::Refresh, "sqlite opaque", "ours, SQLite"),
    (Work::Refresh, "postgres opaque", "ours, PostgreSQL"),
    (Work::Renewal, "memory opaque", "ours"),
    (Work::Renewal, "peer opaque", "node-oidc-provider"),
];

fn main() -> std::io::Result<()> {
    let runtime = runtime()?;
    if let Ok(serve) = env::var(SERVE) {
        return runtime.block_on(server::serve(&serve));
    }
    let Ok(peer) = env::var(PEER) else {
        println!("skipped: loopback/run installs the peer and starts this");
        return Ok(());
    };
    let rounds = env::args().find_map(|argument| argument.parse().ok());
    let rounds = rounds.unwrap_or(ROUNDS);
    let mut rates = CONTESTS.map(|_| Vec::new());
    for _ in 0..rounds {
        for ((work, serve, name), rates) in CONTESTS.iter().zip(&mut rates) {
            let rate = measure(&runtime, *work, serve, &peer);
            if let Some(rate) = rate {
                println!("{}, {name}: {:.0}", work.name(), rate.processor);
            }
            rates.extend(rate);
        }
    }
    println!("medians of {rounds} rounds: answers a second; answers a second of the server's processor");
    println!("time (least to most); microseconds of its user time an answer");
    for ((work, _, name), rates) in CONTESTS.iter().zip(rates) {
        report(work.name(), name, &rates);
    }
    Ok(())
}

fn report(work: &str, name: &str, rates: &[Rate]) {
    if rates.is_empty() {
        return;
    }
    let of = |part: fn(&Rate) -> f64| rates.iter().map(part).collect::<Vec<_>>();
    let processor = of(|rate| rate.processor);
    let least = processor.iter().copied().fold(f64::MAX, f64::min);
    let most = processor.iter().copied().fold(0.0, f64::max);
    let (wall, processor, user) = (
        median(of(|rate| rate.wall)),
        median(processor),
        median(of(|rate| rate.user)),
    );
    println!("{work}, {name}: {wall:.0}; {processor:.0} ({least:.0} to {most:.0}); {user:.2}");
}

/// Measures one server; `None` if its database is missing.
fn measure(runtime: &Runtime, work: Work, serve: &str, peer: &str) -> Option<Rate> {
    let mut command = on_first_core();
    if let Some(format) = serve.strip_prefix("peer ") {
        command
            .arg("node")
            .arg(Path::new(peer).join("provider.mjs"))
            .arg(format)
            .env("NODE_ENV", "production");
        let server = Served::start(command);
        return Some(runtime.block_on(load::rate(&server, work, &Paths::PEER)));
    }
    command
        .arg(env::current_exe().expect("this program"))
        .env(SERVE, serve);
    let folder = tempfile::tempdir().expect("a folder");
    let schema = match serve.starts_with("postgres") {
        true => Some(Schema::fresh(runtime)?),
        false => None,
    };
    match &schema {
        Some(schema) => command.env(DATABASE, schema.url()),
        None => command.env(DATABASE, folder.path().join("oauth")),
    };
    let server = Served::start(command);
    Some(runtime.block_on(load::rate(&server, work, &Paths::OURS)))
}
