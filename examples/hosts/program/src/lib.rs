//! Shared parts of the example programs: error reports with their causes, the exit code, and the
//! signals to stop.
//!
//! `Display` of the suite's errors omits the cause, which is the [`source`](Error::source). So a
//! log line needs the whole chain of sources.

use std::error::Error;
use std::iter::{once, successors};
use std::process::ExitCode;

/// Formats an error with all its causes in one line.
#[must_use]
pub fn in_one_line<E: Error + ?Sized>(error: &E) -> String {
    let beneath = successors(error.source(), |&cause| cause.source());
    let words = once(error.to_string()).chain(beneath.map(ToString::to_string));
    words.collect::<Vec<_>>().join(": ")
}

/// Converts the result of a program to its exit code, and prints an error to standard error.
#[must_use]
#[expect(clippy::print_stderr, reason = "what it is for")]
pub fn exit_code<E: Error + ?Sized>(done: Result<(), Box<E>>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", in_one_line(&*error));
            ExitCode::FAILURE
        }
    }
}

/// Completes on Ctrl-C or SIGTERM. The call installs the handler of SIGTERM: a program can be
/// stopped from then on, also before it awaits the future.
///
/// A container runtime sends SIGTERM. A program that does not handle it ends at once, with its open
/// work.
pub fn stop_requested() -> impl Future<Output = ()> + Send {
    let interrupted = async {
        // if no handler can be installed, the signal ends the process
        let _interrupted = tokio::signal::ctrl_c().await;
    };
    let terminated = terminated();
    async move {
        tokio::select! {
            () = interrupted => {}
            () = terminated => {}
        }
    }
}

#[cfg(unix)]
fn terminated() -> impl Future<Output = ()> + Send {
    use tokio::signal::unix::{SignalKind, signal};
    let installed = signal(SignalKind::terminate());
    async move {
        match installed {
            Ok(mut terminated) => {
                terminated.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Failed(&'static str, Option<Box<Self>>);

    impl fmt::Display for Failed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Failed {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as &dyn Error)
        }
    }

    #[test]
    fn error_is_formatted_with_all_causes() {
        let alone = Failed("no answer", None);
        assert_eq!(in_one_line(&alone), "no answer");
        let beneath = Failed("the server cannot be asked", Some(Box::new(alone)));
        let boxed: Box<dyn Error + Send + Sync> = Box::new(Failed("no keys", Some(Box::new(beneath))));
        assert_eq!(
            in_one_line(&*boxed),
            "no keys: the server cannot be asked: no answer"
        );
    }
}
