//! Instructions of a request in a server's program, by callgrind: the difference of two runs.

use std::{fs, path::Path, process::Command};

use tokio::runtime::Runtime;

use crate::load::Load;
use crate::{servers, start};

const TIMES: u64 = 1000;

pub(crate) fn count(runtime: &Runtime, load: &Load) {
    let directory = tempfile::tempdir().expect("a directory");
    let counted = directory.path().join("counted");
    println!("instructions of a request, without those of the kernel:");
    for server in servers() {
        let all = |times| {
            let mut valgrind = Command::new("valgrind");
            valgrind.arg("--tool=callgrind");
            valgrind.arg(format!("--callgrind-out-file={}", counted.display()));
            let served = start(valgrind, server);
            runtime.block_on(load.ask(&served, times));
            served.end();
            total(&counted)
        };
        let once = all(TIMES);
        println!("{server}: {}", (all(2 * TIMES) - once) / TIMES);
    }
}

/// The sum in a callgrind output file.
fn total(counted: &Path) -> u64 {
    let text = fs::read_to_string(counted).expect("what callgrind has written");
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    total
        .and_then(|total| total.trim().parse().ok())
        .expect("a number")
}
