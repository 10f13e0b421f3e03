//! `webhook sign|verify|send|listen|inspect|replay`: what there is to do with webhooks at a terminal.
//!
//! ```sh
//! cargo run -p webhook-cli -- --help
//! ```
#![expect(clippy::print_stderr, reason = "a command says what is wrong on stderr")]

mod args;
mod inspect;
mod keys;
mod listen;
mod replay;
mod send;
mod show;
mod sign;
mod store;
mod verify;

use std::process::ExitCode;

const USAGE: &str = "\
usage: webhook sign    --secret S… [--scheme X] [--id ID] [--timestamp N] < body
       webhook verify  --secret S… [--scheme X] --header 'Name: value'… [--now N] [--tolerance S] [--explain] < body
       webhook send    URL --secret S… [--scheme X] [--data JSON [--type T]] [--id ID] [--count N] [--concurrency C]
                       [--timeout S] [< body]
       webhook listen  --secret S… [--scheme X] [--listen ADDRESS] [--explain]
       webhook inspect FILE [--event ID] [--endpoint ID] [--state STATE]… [--limit N] [--attempts]
       webhook replay  FILE (--event ID | --endpoint ID | --all) [--state STATE]… [--dry-run]

  --scheme     standard (id.timestamp.body, base64; the default), hex (timestamp.body), hex-id (id.timestamp.body), ed25519
  --secret     whsec_… is base64; for hex and hex-id any other text is taken as it is, and text:… always;
               for ed25519 whsk_… signs, and whpk_… or whsk_… verifies. Repeat it during a rotation, the newest first
  --explain    tries the usual mistakes and says which one it was
  --now        the time to verify at, in Unix seconds          --tolerance  how far the signing may be from it (300)
  --count      send so many events, each with its own id       --concurrency  so many at a time (8)
  --timeout    seconds for one exchange (10)                   --listen  where to listen (127.0.0.1:8090)
  --state      ready, retry_scheduled, leased, acked, permanent_failure or dead_letter
  --attempts   the log of each delivery too                    --dry-run  only say what would be sent again
  FILE         a database of store-sqlite

exit: 0 done, or verified; 1 not verified, not acknowledged, or failed; 2 the command line means nothing
";

/// Why a command ends without success.
enum Failure {
    /// The command line means nothing: exit 2.
    Usage(String),
    /// It means something that failed: exit 1.
    Failed(String),
}

/// What went wrong, in one line, whatever it was.
fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

fn usage(error: impl std::fmt::Display) -> Failure {
    Failure::Usage(error.to_string())
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut words = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned());
    let command = words.next().unwrap_or_default();
    let words: Vec<String> = words.collect();
    let help = ["-h", "--help", "help"];
    if help.contains(&command.as_str()) || words.iter().any(|word| word == "--help" || word == "-h") {
        show::text(USAGE);
        return ExitCode::SUCCESS;
    }
    let done = match command.as_str() {
        "sign" => sign::run(words),
        "verify" => verify::run(words),
        "send" => send::run(words).await,
        "listen" => listen::run(words).await,
        "inspect" => inspect::run(words).await,
        "replay" => replay::run(words).await,
        "" => Err(usage("a command is missing")),
        other => Err(usage(format!("`{other}` is no command"))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Failed(why)) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
        Err(Failure::Usage(why)) => {
            eprintln!("webhook: {why}; see webhook --help");
            ExitCode::from(2)
        }
    }
}
