//! `webhook sign|verify|send|listen|inspect|replay`: webhooks at a terminal.
//!
//! ```sh
//! cargo run -p webhook-cli -- --help
//! ```

mod args;
mod inspect;
mod interrupt;
mod keys;
mod list;
mod listen;
mod replay;
mod send;
mod show;
mod sign;
mod store;
mod verify;

use std::{error::Error, process::ExitCode};

const USAGE: &str = "\
usage: webhook sign    [--secret S]… [--scheme X | --as NAME [--url URL]] [--id ID] [--timestamp N] < body
       webhook verify  [--secret S]… [--scheme X | --as NAME [--url URL] [--method M]] --header 'Name: value'…
                       [--now N] [--tolerance S] [--explain] < body
       webhook send    URL [--secret S]… [--scheme X] [--data JSON [--type T]] [--id ID] [--count N] [--concurrency C]
                       [--timeout S] [< body]
       webhook listen  [--secret S]… [--scheme X | --as NAME [--url URL] [--verify-token T]] [--listen ADDRESS] [--body]
                       [--explain]
       webhook inspect FILE [--event ID] [--endpoint ID] [--from N] [--before N] [--state STATE]… [--limit N] [--attempts]
       webhook replay  FILE ([--event ID] [--endpoint ID] [--from N] [--before N] | --all) [--state STATE]… [--dry-run]
       webhook replay  FILE --missing --endpoint ID [--from N] [--before N] [--dry-run]
       webhook --list

  --as         provider such as stripe or github, whose scheme is used; implies --explain. The secret has the form in
               which the provider hands it out; a provider with a key pair can be verified, and not signed for
  --list       prints the providers, and what each signs
  --url        URL of the receiver as the provider knows it, with its query, for providers that sign the URL
  --verify-token  token of the handshake of meta
  --scheme     standard (id.timestamp.body, base64; the default), hex (timestamp.body), hex-id (id.timestamp.body), ed25519
  --secret     whsec_… is base64; for hex and hex-id any other text is the secret itself, and text:… always is;
               for ed25519 whsk_… signs, and whpk_… or whsk_… verifies. Repeat it during a rotation, the newest first
  --secret-file FILE  secrets hidden from other users, one a line; without either flag they are read from the
               environment variable WEBHOOK_SECRET, in the same form
  --explain    tries common mistakes and names the one that fits
  --now        time of the verification, in Unix seconds       --tolerance  seconds between signing and --now (300)
  --count      number of events, each with its own id          --concurrency  requests at a time (8)
  --timeout    seconds for one exchange (10)                   --listen  address and port (127.0.0.1:8090)
  --body       prints the body of each verified message too
  --state      ready, retry_scheduled, leased, acked, permanent_failure or dead_letter
  --from       events created at this time or later, in Unix seconds; --before: events created earlier
  --missing    events that the endpoint never got: created before it was registered or subscribed to them
  --attempts   prints the log of each delivery too             --dry-run  only prints the number
  FILE         a database of host-store-sqlite

exit: 0 done, or verified; 1 not verified, not acknowledged, or failed; 2 the command line is invalid
";

/// Reason to end the program before its command has succeeded.
enum Failure {
    /// Help was requested: exit 0.
    Help,
    /// The command line is invalid: exit 2.
    Usage(String),
    /// The command failed: exit 1.
    Failed(String),
}

/// A failure with a message in one line.
fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// A failure with its causes in one line.
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
    // a lossy conversion would change secrets and file names
    let words = std::env::args_os()
        .skip(1)
        .map(|word| word.into_string().map_err(|_| usage("an argument is not UTF-8")));
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
        "--list" => list::run(words),
        "" => Err(usage("a command is missing")),
        other => Err(usage(format!("unknown command `{}`", show::word(other)))),
    }
}
