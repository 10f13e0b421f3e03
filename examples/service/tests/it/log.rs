//! Captures the log lines of the thread that runs a test.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use service::logging::{LogFormat, subscriber};
use tracing::subscriber::{DefaultGuard, set_default};

/// Log lines since [`capture`]. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The events of JSON lines with this target.
    pub(crate) fn of(&self, target: &str) -> Vec<Value> {
        let text = self.text();
        let events = text.lines().map(|line| serde_json::from_str(line).unwrap());
        events
            .filter(|event: &Value| event.get("target").unwrap() == target)
            .collect()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Captures everything that this thread logs, down to `trace`, until the guard is dropped.
pub(crate) fn capture(format: LogFormat) -> (Lines, DefaultGuard) {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = subscriber(format, "trace".parse().unwrap(), move || writer.clone());
    (lines, set_default(subscriber))
}
