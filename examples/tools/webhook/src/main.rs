//! `webhook sign|verify|send|listen|inspect|replay`: what there is to do with webhooks at a terminal.
//!
//! ```sh
//! cargo run -p webhook-cli -- --help
//! ```

mod args;
mod inspect;
mod interrupt;
mod keys;
mod listen;
mod replay;
mod send;
mod show;
mod sign;
mod store;
mod verify;

use std::{error::Error, process::ExitCode};

const USAGE: &str = "\
usage: webhook sign    [--secret S]… [--scheme X] [--id ID] [--timestamp N] < body
       webhook verify  [--secret S]… [--scheme X] --header 'Name: value'… [--now N] [--tolerance S] [--explain] < body
       webhook send    URL [--secret S]… [--scheme X] [--data JSON [--type T]] [--id ID] [--count N] [--concurrency C]
                       [--timeout S] [< body]
       webhook listen  [--secret S]… [--scheme X] [--listen ADDRESS] [--body] [--explain]
       webhook inspect FILE [--event ID] [--endpoint ID] [--from N] [--before N] [--state STATE]… [--limit N] [--attempts]
       webhook replay  FILE ([--event ID] [--endpoint ID] [--from N] [--before N] | --all) [--state STATE]… [--dry-run]
       webhook replay  FILE --missing --endpoint ID [--from N] [--before N] [--dry-run]

  --scheme     standard (id.timestamp.body, base64; the default), hex (timestamp.body), hex-id (id.timestamp.body), ed25519
  --secret     whsec_… is base64; for hex and hex-id any other text is taken as it is, and text:… always;
               for ed25519 whsk_… signs, and whpk_… or whsk_… verifies. Repeat it during a rotation, the newest first
  --secret-file FILE  secrets out of sight of other users, one a line; without either flag they are read from the
               environment variable WEBHOOK_SECRET, in the same form
  --explain    tries the usual mistakes and says which one it was
  --now        the time to verify at, in Unix seconds          --tolerance  how far the signing may be from it (300)
  --count      send so many events, each with its own id       --concurrency  so many at a time (8)
  --timeout    seconds for one exchange (10)                   --listen  where to listen (127.0.0.1:8090)
  --body       shows the body of each verified message too
  --state      ready, retry_scheduled, leased, acked, permanent_failure or dead_letter
  --from       events created at this time or later, in Unix seconds; with --before, earlier than that
  --missing    what the endpoint never got: events from before it was registered, or wanted so much
  --attempts   the log of each delivery too                    --dry-run  only say what would be sent again
  FILE         a database of host-store-sqlite

exit: 0 done, or verified; 1 not verified, not acknowledged, or failed; 2 the command line means nothing
";

/// Why a command ends without success.
enum Failure {
    /// It was asked what it can mean: exit 0.
    Help,
    /// The command line means nothing: exit 2.
    Usage(String),
    /// It means something that failed: exit 1.
    Failed(String),
}

/// What went wrong, in one line, whatever it was.
fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// What went wrong and what caused it, in one line.
fn caused(error: impl Error + 'static) -> Failure {
    failed(show::chain(&error))
}

fn usage(error: impl std::fmt::Display) -> Failure {
    Failure::Usage(error.to_string())
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Help) => {
            show::text(USAGE);
            ExitCode::SUCCESS
        }
        Err(Failure::Failed(why)) => {
            show::complaint(&why);
            ExitCode::FAILURE
        }
        Err(Failure::Usage(why)) => {
            show::complaint(&format!(
                "webhook: {}; see webhook --help",
                show::foreign(why.as_bytes(), 600)
            ));
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<(), Failure> {
    // a word with other bytes in its place would be another secret or another file
    let words = std::env::args_os().skip(1).map(|word| {
        word.into_string()
            .map_err(|_| usage("a word of the command line is not UTF-8"))
    });
    let mut words = words.collect::<Result<Vec<String>, Failure>>()?.into_iter();
    let command = words.next().unwrap_or_default();
    let words = words.collect();
    match command.as_str() {
        "-h" | "--help" | "help" => Err(Failure::Help),
        "sign" => sign::run(words),
        "verify" => verify::run(words),
        "send" => send::run(words).await,
        "listen" => listen::run(words).await,
        "inspect" => inspect::run(words).await,
        "replay" => replay::run(words).await,
        "" => Err(usage("a command is missing")),
        other => Err(usage(format!("`{}` is no command", show::word(other)))),
    }
}
