//! A server that runs as a separate process, and the measurement of its processor time.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::time::sleep;

/// Command prefix that pins a program to the first core; the load runs on the second.
#[must_use]
pub fn on_first_core() -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]);
    command
}

/// A server process on loopback. Dropping the value kills the process.
#[derive(Debug)]
pub struct Served {
    process: Child,
    port: u16,
}

/// Processor time of all threads of a process, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct ProcessorTime {
    /// Time in the program.
    pub user: f64,
    /// Time in the kernel for the program.
    pub system: f64,
}

impl ProcessorTime {
    /// Sum of user and system time.
    #[must_use]
    pub fn whole(self) -> f64 {
        self.user + self.system
    }
}

impl Served {
    /// Starts a program and waits until it prints the line `listening PORT`.
    ///
    /// # Panics
    ///
    /// The program cannot be started, or closes its output without this line.
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

    /// Port of the server.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Processor time so far, in steps of 10 ms.
    ///
    /// # Panics
    ///
    /// The process has ended.
    #[must_use]
    pub fn processor_time(&self) -> ProcessorTime {
        let status = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).expect("a process");
        let (_, fields) = status.rsplit_once(')').expect("its name in parentheses");
        let mut ticks = fields.split_whitespace().skip(11);
        // the kernel reports hundredths of a second
        let mut seconds = || {
            let ticks = ticks.next().and_then(|ticks| ticks.parse::<f64>().ok());
            ticks.expect("a number") / 100.0
        };
        ProcessorTime {
            user: seconds(),
            system: seconds(),
        }
    }

    /// Waits until the server has used another `seconds` of processor time. Returns the total so
    /// far.
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

    /// Sends SIGTERM, so that a profiler can write its results, and waits until the process has
    /// ended.
    ///
    /// # Panics
    ///
    /// The program `kill` cannot be started.
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
