//! Ten nested items of the graph over HTTP on loopback, against juniper_axum and
//! async-graphql-axum, which are programs of their own (see `peers/`).
//!
//! The server has one core, the load another: `taskset -c 1 cargo bench -p benches --bench
//! graph_http`. With `-- instructions` it counts the instructions of a request with callgrind,
//! independent of load.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench reports on the terminal, and ends where something is not as it was set up"
)]

#[path = "graph/data.rs"]
mod data;
#[path = "graph/direct.rs"]
mod direct;
#[path = "graph/floor.rs"]
mod floor;
#[path = "graph_http/instructions.rs"]
mod instructions;
#[path = "graph_http/load.rs"]
mod load;
#[path = "graph_http/server.rs"]
mod server;

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use benches::{Served, median, on_first_core, runtime};
use mimalloc::MiMalloc;

use crate::load::{Load, Rate};

// as in `graph`, and in the peer
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const ROUNDS: usize = 5;
/// Tells a second process of this program which server to run.
const SERVE: &str = "GRAPH_HTTP_SERVE";
const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/target/release");

/// Our servers, by their names in `server`, and the peers, by the names of their programs.
const SERVERS: [&str; 8] = [
    "ours, host-adapter-hyper",
    "ours, host-adapter-axum",
    "juniper-axum",
    "juniper-axum execute_sync",
    "async-graphql-axum",
    "floor: hyper",
    "floor: axum",
    "floor: host-adapter-hyper",
];

/// The program of a peer, with its arguments.
fn peer(server: &str) -> Option<(PathBuf, impl Iterator<Item = &str>)> {
    let mut words = server.split(' ');
    let name = words.next().filter(|name| name.ends_with("-axum"))?;
    Some((Path::new(PEERS).join(name), words))
}

/// The servers that can be started.
fn servers() -> Vec<&'static str> {
    let is_built = |server: &&str| peer(server).is_none_or(|(program, _)| program.exists());
    let servers: Vec<_> = SERVERS.into_iter().filter(is_built).collect();
    if servers.len() < SERVERS.len() {
        println!("left out: the peers; build them with the command in benches/README.md");
    }
    servers
}

/// Starts a server with a command prefix that pins it or counts its instructions.
fn start(mut command: Command, server: &str) -> Served {
    match peer(server) {
        Some((program, words)) => command.arg(program).args(words),
        None => command
            .arg(env::current_exe().expect("this program"))
            .env(SERVE, server),
    };
    Served::start(command)
}

fn main() -> std::io::Result<()> {
    let cases = data::cases();
    let case = cases.iter().find(|case| case.name == "10 nested");
    let case = case.expect("the case");
    let runtime = runtime()?;
    if let Ok(what) = env::var(SERVE) {
        return runtime.block_on(server::serve(&what, floor::by_hand(&case.data)));
    }
    let load = Load::new(&case.query, floor::derived(&case.data));
    if env::args().any(|word| word == "instructions") {
        instructions::count(&runtime, &load);
        return Ok(());
    }
    let mut rates: Vec<(_, Vec<Rate>)> = servers().into_iter().map(|server| (server, Vec::new())).collect();
    for round in 1..=ROUNDS {
        for (server, rates) in &mut rates {
            let served = start(on_first_core(), server);
            let rate = runtime.block_on(load.rate(&served));
            println!("round {round}, {server}: {rate}");
            rates.push(rate);
        }
    }
    println!(
        "\nmedians of {ROUNDS} rounds by turns, {} connections:",
        load::CONNECTIONS
    );
    for (server, rates) in rates {
        let middle = |of: fn(&Rate) -> f64| median(rates.iter().map(of).collect());
        let rate = Rate {
            wall: middle(|rate| rate.wall),
            busy: middle(|rate| rate.busy),
            user: middle(|rate| rate.user),
            system: middle(|rate| rate.system),
        };
        let takes = rates.iter().map(Rate::takes);
        let (least, most) = takes.fold((f64::MAX, 0.0_f64), |(least, most), takes| {
            (least.min(takes), most.max(takes))
        });
        println!("{server}: {rate}, {least:.2} to {most:.2}");
    }
    Ok(())
}
