//! Reports errors of the example programs, with their causes, and sets the exit code.
//!
//! `Display` of an error of the suite has no cause in it; the causes are its
//! [`source`](Error::source)s. So a log line needs the whole chain.

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
