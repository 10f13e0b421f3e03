//! `conventions-audit URL`: reports the faults of an HTTP API, each with the violated section of
//! its specification.
//!
//! ```sh
//! cargo run -p conventions-audit -- http://127.0.0.1:8080 --openapi /openapi.json
//! cargo run -p conventions-audit -- --attack http://127.0.0.1:8080
//! ```

use std::{
    io::{self, Write},
    process::ExitCode,
};

use conventions_audit::{
    attack::attack,
    client::Client,
    options::{AttackOptions, Command, Options, USAGE},
    plan::Plan,
    report::Report,
    site,
};

#[tokio::main]
async fn main() -> ExitCode {
    let options = match Command::parse(std::env::args().skip(1)) {
        Ok(Command::Help) => {
            say(USAGE);
            return ExitCode::SUCCESS;
        }
        Ok(Command::Audit(options)) => options,
        Ok(Command::Attack(options)) => return attacked(&options),
        Err(error) => {
            complain(&format!("{error}\n\n{USAGE}"));
            return ExitCode::from(2);
        }
    };
    match audited(&options).await {
        Ok(report) => {
            say(&if options.json {
                report.json()
            } else {
                report.text()
            });
            match report.is_clean() {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            }
        }
        Err(error) => {
            complain(&error);
            ExitCode::from(2)
        }
    }
}

async fn audited(options: &Options) -> Result<Report, String> {
    let client = Client::new(&options.base, options.headers.clone()).map_err(|error| error.to_string())?;
    let mut plan = Plan::from_paths(&options.paths).with_writes(&options.writes);
    if let Some(path) = &options.openapi {
        let document = client.get(path).await.map_err(|error| error.to_string())?;
        plan.extend(Plan::from_openapi(document.body()).map_err(|error| format!("{path}: {error}"))?);
    }
    if plan.is_empty() {
        return Err(
            "nothing to audit: name a --path, a --write, or an --openapi that has paths without parameters"
                .to_owned(),
        );
    }
    site::audit(&client, &plan, |progress| complain(&progress.to_string()))
        .await
        .map_err(|error| error.to_string())
}

fn attacked(options: &AttackOptions) -> ExitCode {
    match attack(&options.base, &options.path, &options.excepted) {
        Ok(report) => {
            say(&if options.json {
                report.json()
            } else {
                report.text()
            });
            match report.is_clean() {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            }
        }
        Err(error) => {
            complain(&error);
            ExitCode::from(2)
        }
    }
}

/// a reader that has closed the pipe is no error
fn say(text: &str) {
    let _closed = writeln!(io::stdout(), "{text}");
}

fn complain(text: &str) {
    let _closed = writeln!(io::stderr(), "{text}");
}
