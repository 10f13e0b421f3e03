//! The command line: commands and settings.

mod clients;
mod options;
mod settings;

use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches};
use thiserror::Error;
use tour::Outputs;

use self::options::{DATABASE, parse_database};
pub use self::options::{DatabaseChoice, Options, ServerUrl, TlsFiles};
pub use self::settings::Mistake;
use self::settings::{SETTINGS, Settings};

/// Description of the sources, after the list of flags.
const SOURCES: &str = "\
Each flag is also a setting of the file of --config, by its name without the dashes, for example
`allow-origin = [\"https://app.example.com\"]`, and a variable of the environment, for example
DESK_ALLOW_ORIGIN with values separated by commas. Flags replace variables, and variables replace
the file. Clients are in the file alone, each in a table [[client]]; see desk.example.toml.";

/// A parsed command line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Command {
    /// Print this text: of `--help` or of `--version`.
    Print(String),
    /// Serve until Ctrl-C or SIGTERM.
    Serve(Box<Options>),
    /// Check the settings and the files that they name, and exit.
    Check(Box<Options>),
    /// Run the tour and exit.
    Tour {
        /// Files that it writes.
        outputs: Outputs,
        /// New database; by default a temporary SQLite file.
        database: Option<DatabaseChoice>,
    },
    /// Print the GraphQL schema.
    Schema,
    /// Register a user, whose password is read from standard input, and exit.
    AddUser {
        /// Email address of the user.
        email: String,
        /// Name of the user on pages and in claims.
        name: String,
        /// Database of the service.
        database: DatabaseChoice,
    },
    /// Lock or unlock the account of a user, and exit.
    SetLock {
        /// Email address of the user.
        email: String,
        /// `true` to lock.
        is_locked: bool,
        /// Database of the service.
        database: DatabaseChoice,
    },
}

/// An invalid command line, environment or configuration file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsageError {
    /// The command line has an unknown argument, or lacks one. The text describes it.
    #[error("{0}")]
    CommandLine(String),
    /// Settings with invalid values, each named.
    #[error("{}", lines(.0))]
    Settings(Vec<Mistake>),
}

fn lines(mistakes: &[Mistake]) -> String {
    let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

impl Command {
    /// Parses the arguments after the program's name. Settings also come from the file of
    /// `--config`, which `read` reads, and from the `environment`.
    ///
    /// # Errors
    ///
    /// Returns a [`UsageError`] that names the invalid argument, or every invalid setting.
    pub fn parse(
        words: impl IntoIterator<Item = String>,
        environment: impl Fn(&str) -> Option<String>,
        read: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<Self, UsageError> {
        let words = std::iter::once("service".to_owned()).chain(words);
        let matches = match command().try_get_matches_from(words) {
            Ok(matches) => matches,
            Err(text) if !text.use_stderr() => return Ok(Self::Print(text.to_string())),
            Err(error) => return Err(UsageError::CommandLine(error.to_string())),
        };
        let (name, arguments) = matches.subcommand().unwrap_or(("", &matches));
        match name {
            "tour" => {
                let file = |name| arguments.get_one::<String>(name).map(PathBuf::from);
                let outputs = Outputs {
                    record: file("record"),
                    report: file("report"),
                };
                let database = arguments.get_one::<String>("database");
                let database = database.map(|text| {
                    let fault = format!("`{text}` is not {DATABASE}");
                    let mistake = Mistake::new("--database", fault);
                    parse_database(text).ok_or_else(|| UsageError::Settings(vec![mistake]))
                });
                let database = database.transpose()?;
                return Ok(Self::Tour { outputs, database });
            }
            "schema" => return Ok(Self::Schema),
            _ => {}
        }
        let options = options(arguments, environment, read)?;
        let email = arguments.try_get_one::<String>("email").ok().flatten();
        Ok(match email {
            Some(email) if name == "add-user" => Self::AddUser {
                email: email.clone(),
                name: arguments.get_one::<String>("name").cloned().unwrap_or_default(),
                database: options.database,
            },
            Some(email) => Self::SetLock {
                email: email.clone(),
                is_locked: name == "lock",
                database: options.database,
            },
            _ if arguments.get_flag("check") => Self::Check(Box::new(options)),
            _ => Self::Serve(Box::new(options)),
        })
    }
}

/// Reads all settings, or names all mistakes.
fn options(
    arguments: &ArgMatches,
    environment: impl Fn(&str) -> Option<String>,
    read: impl Fn(&Path) -> io::Result<String>,
) -> Result<Options, UsageError> {
    let mut settings = Settings::default();
    let config = arguments.get_one::<String>("config").cloned();
    if let Some(path) = config.or_else(|| environment("DESK_CONFIG")) {
        match read(Path::new(&path)) {
            Ok(text) => settings.add_file(&path, &text),
            Err(error) => {
                let fault = format!("cannot read `{path}`: {error}");
                settings.mistakes.push(Mistake::new("--config", fault));
            }
        }
    }
    settings.add_environment(&environment);
    settings.add_flags(arguments);
    let options = Options::parse(&mut settings, &environment, &read);
    match settings.mistakes.is_empty() {
        true => Ok(options),
        false => Err(UsageError::Settings(settings.mistakes)),
    }
}

fn command() -> clap::Command {
    let config = Arg::new("config").long("config").value_name("FILE");
    let config = config.help("file of settings (TOML)");
    let database = SETTINGS.iter().filter(|setting| setting.name == "database");
    let database: Vec<Arg> = database.map(settings::Setting::flag).collect();
    let of_account = |name: &'static str, about: &'static str| {
        let email = Arg::new("email").value_name("EMAIL").required(true);
        let account = clap::Command::new(name).about(about).arg(email);
        account.args(&database).arg(&config)
    };
    let record = Arg::new("record").long("record").value_name("FILE");
    let record = record.help("write the responses of the tour to FILE as JSON, without secrets");
    let report = Arg::new("report").long("report").value_name("FILE");
    let report = report.help("write each step of the tour to FILE as a page (HTML), without secrets");
    let check = Arg::new("check").long("check").action(ArgAction::SetTrue);
    clap::Command::new("service")
        .about("The payments desk: graph-core, oauth-core, webhook-core and http-conventions in one service.")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(SOURCES)
        .args_conflicts_with_subcommands(true)
        .disable_help_subcommand(true)
        .subcommand(
            clap::Command::new("tour")
                .about("start on a free port with a new database, check every feature over HTTP; exit with 0 or 1")
                .args([record, report])
                .args(&database),
        )
        .subcommand(clap::Command::new("schema").about("print the GraphQL schema"))
        .subcommand(of_account(
            "lock",
            "lock an account: its sessions end, and its tokens are refused until `unlock`",
        ))
        .subcommand(of_account("unlock", "unlock an account"))
        .subcommand(
            of_account(
                "add-user",
                "register a user; the password is the first line of standard input",
            )
            .arg(Arg::new("name").value_name("NAME").required(true)),
        )
        .arg(config.clone())
        .arg(check.help("check the settings and the files that they name, and exit"))
        .args(SETTINGS.iter().map(settings::Setting::flag))
}

#[cfg(test)]
mod tests;
