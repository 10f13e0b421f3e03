//! A server in a process of its own, and the processor time that it takes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::time::sleep;

/// Runs what is appended to it on the first core; the load is for the second one.
#[must_use]
pub fn on_first_core() -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]);
    command
}

/// A server that listens on loopback, until this is dropped.
#[derive(Debug)]
pub struct Served {
    process: Child,
    port: u16,
}

/// Seconds of a processor, of all threads of a process.
#[derive(Clone, Copy, Debug)]
pub struct ProcessorTime {
    /// In the program itself.
    pub user: f64,
    /// In the kernel on its behalf.
    pub system: f64,
}

impl ProcessorTime {
    /// Both together.
    #[must_use]
    pub fn whole(self) -> f64 {
        self.user + self.system
    }
}

impl Served {
    /// Starts a program that prints `listening PORT`.
    ///
    /// # Panics
    ///
    /// When it does not.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let spawned = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = spawned.expect("a program");
        let output = process.stdout.take().expect("its output");
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        let port = lines
            .filter_map(|line| line.strip_prefix("listening ")?.parse().ok())
            .next();
        Self {
            process,
            port: port.expect("a server that says where it listens"),
        }
    }

    /// Where it listens.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// What it has taken so far, in steps of a hundredth of a second.
    ///
    /// # Panics
    ///
    /// When it has ended.
    #[must_use]
    pub fn processor_time(&self) -> ProcessorTime {
        let status = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).expect("a process");
        let (_, fields) = status.rsplit_once(')').expect("its name in parentheses");
        let mut ticks = fields.split_whitespace().skip(11);
        // the kernel shows hundredths of a second, whatever it counts in
        let mut seconds = || {
            let ticks = ticks.next().and_then(|ticks| ticks.parse::<f64>().ok());
            ticks.expect("a number") / 100.0
        };
        ProcessorTime {
            user: seconds(),
            system: seconds(),
        }
    }

    /// What it has taken, once that is so many seconds more than now.
    pub async fn work(&self, seconds: f64) -> ProcessorTime {
        let wanted = self.processor_time().whole() + seconds;
        loop {
            let spent = self.processor_time();
            if spent.whole() >= wanted {
                return spent;
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Asks it to end, so that a profiler around it writes what it has seen.
    ///
    /// # Panics
    ///
    /// When there is no `kill`.
    pub fn end(mut self) {
        let id = self.process.id().to_string();
        Command::new("kill").arg(id).status().expect("kill");
        self.process.wait().ok();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
