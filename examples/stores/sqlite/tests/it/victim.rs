//! A second process of the test binary, which writes to a file until it is killed.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Tells the process the file to write to.
const FILE: &str = "STORE_SQLITE_VICTIM";
const ROUND: &str = "STORE_SQLITE_ROUND";

/// The process, seen from its killer.
pub(crate) struct Victim(Child);

impl Victim {
    /// Starts the process, which runs the test with this name.
    pub(crate) fn start(test: &str, file: &Path, round: i64) -> Self {
        let victim = Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(FILE, file)
            .env(ROUND, round.to_string())
            .stdout(Stdio::piped())
            .spawn();
        Self(victim.unwrap())
    }

    /// Lets the process print `count` lines that begin with `word`, and kills it. Returns the rest
    /// of each such line.
    pub(crate) fn kill_after(mut self, word: &str, count: usize) -> Vec<String> {
        let mut output = BufReader::new(self.0.stdout.take().unwrap());
        let mut told = Vec::new();
        let mut line = String::new();
        while output.read_line(&mut line).unwrap() > 0 {
            // the last line may be cut
            let whole = line.strip_suffix('\n').and_then(|line| line.strip_prefix(word));
            if let Some(rest) = whole {
                told.push(rest.trim_start().to_owned());
                if told.len() == count {
                    self.0.kill().unwrap();
                }
            }
            line.clear();
        }
        assert!(!self.0.wait().unwrap().success(), "it ended by itself");
        assert!(told.len() >= count);
        told
    }
}

/// File and round of the process itself. `None` in a test that no killer started.
pub(crate) fn task() -> Option<(PathBuf, i64)> {
    let file = env::var_os(FILE).map(PathBuf::from)?;
    Some((file, env::var(ROUND).unwrap().parse().unwrap()))
}
