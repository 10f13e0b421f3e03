//! Settings by name, from a file, the environment and flags. A later source replaces the value of
//! an earlier one, also as a whole list.

use std::collections::BTreeMap;
use std::fmt;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use toml::{Table, Value};

/// Form of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One value with this placeholder.
    One(&'static str),
    /// Several values with this placeholder.
    List(&'static str),
    /// On or off.
    Switch,
}

/// A setting: `--name` as a flag, `DESK_NAME` in the environment, `name` in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) name: &'static str,
    form: Form,
    help: &'static str,
}

const fn one(name: &'static str, placeholder: &'static str, help: &'static str) -> Setting {
    let form = Form::One(placeholder);
    Setting { name, form, help }
}

const fn list(name: &'static str, placeholder: &'static str, help: &'static str) -> Setting {
    let form = Form::List(placeholder);
    Setting { name, form, help }
}

/// All settings, in the order of the help text.
pub(super) const SETTINGS: &[Setting] = &[
    one("listen", "ADDRESS", "listen address (default: 127.0.0.1:8080)"),
    one(
        "database",
        "DATABASE",
        "sqlite:FILE, sqlite::memory: or postgres://USER@HOST/NAME, which several processes can share (default: sqlite:payments-desk.sqlite)",
    ),
    one(
        "base-url",
        "URL",
        "URL by which clients reach the service, and issuer of its tokens (default: from --listen)",
    ),
    list(
        "allowed-host",
        "HOST",
        "also answer for this Host, beside those of --base-url and --listen",
    ),
    list(
        "trusted-proxy",
        "NETWORK",
        "believe X-Forwarded-For of this proxy, for example 10.0.0.1 or 10.0.0.0/8",
    ),
    one(
        "tls-cert",
        "FILE",
        "serve HTTPS with this certificate chain (PEM); read again on SIGHUP",
    ),
    one("tls-key", "FILE", "private key of --tls-cert (PEM)"),
    one(
        "operator-listen",
        "ADDRESS",
        "serve /healthz, /readyz and /metrics here, for the operator's network alone (default: beside the service if only this machine reaches it, else not at all)",
    ),
    one(
        "log",
        "LEVEL",
        "least severe level of the log: error, warn, info, debug or trace; also by target (default: info)",
    ),
    one("log-format", "FORMAT", "pretty or json (default: pretty)"),
    one(
        "drain-delay",
        "SECONDS",
        "at SIGTERM, serve this long after /readyz turned 503 (default: 0)",
    ),
    one(
        "drain-timeout",
        "SECONDS",
        "then finish open requests and deliveries for at most this long (default: 5)",
    ),
    list(
        "allow-origin",
        "ORIGIN",
        "allow pages of this origin to call the service (CORS), for example https://app.example.com",
    ),
    one(
        "redis",
        "URL",
        "Redis server that the processes on one database share for rate limits, persisted queries and announcements of changed charges",
    ),
    one(
        "redis-file",
        "FILE",
        "file with the URL of --redis, which may contain a password",
    ),
    list("api", "URL", "also issue tokens for this API"),
    list(
        "scope",
        "SCOPE",
        "also issue this scope, which another API checks",
    ),
    Setting {
        name: "no-demo",
        form: Form::Switch,
        help: "leave out the demo's user and clients, whose secrets are public",
    },
    Setting {
        name: "opaque-tokens",
        form: Form::Switch,
        help: "issue opaque access tokens instead of JWTs",
    },
    one(
        "key-rotation",
        "DAYS",
        "replace the signing keys after this many days (default: 90)",
    ),
    one(
        "trusted-documents",
        "FILE",
        "run only the GraphQL operations of this manifest (Apollo format, or {\"id\": \"text\"})",
    ),
    one(
        "sign-in-as",
        "EMAIL",
        "demo only: every browser is signed in as this user, without login and consent pages",
    ),
];

impl Setting {
    /// The setting as a flag.
    pub(super) fn flag(&self) -> Arg {
        let arg = Arg::new(self.name).long(self.name).help(self.help);
        match self.form {
            Form::One(placeholder) => arg.value_name(placeholder),
            Form::List(placeholder) => arg.value_name(placeholder).action(ArgAction::Append),
            Form::Switch => arg.action(ArgAction::SetTrue),
        }
    }

    fn variable(&self) -> String {
        format!("DESK_{}", self.name.replace('-', "_").to_uppercase())
    }
}

/// Source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    File(String),
    Environment,
    Flag,
}

/// Values of one setting and their source.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) texts: Vec<String>,
    origin: Origin,
}

/// A value that cannot be used: the setting by the name of its source, and the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    place: String,
    fault: String,
}

impl Mistake {
    pub(super) fn new(place: impl Into<String>, fault: impl Into<String>) -> Self {
        let (place, fault) = (place.into(), fault.into());
        Self { place, fault }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.fault)
    }
}

/// The values of all sources.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    given: BTreeMap<&'static str, Given>,
    /// The tables `[[client]]` with the file that has them.
    pub(super) clients: Option<(String, Vec<Table>)>,
    pub(super) mistakes: Vec<Mistake>,
}

impl Settings {
    /// Adds the settings of a file.
    pub(super) fn add_file(&mut self, path: &str, text: &str) {
        let table: Table = match text.parse() {
            Ok(table) => table,
            Err(error) => return self.mistakes.push(Mistake::new(path, syntax_error(text, &error))),
        };
        for (name, value) in table {
            let place = format!("`{name}` in {path}");
            if name == "client" {
                match tables(value) {
                    Some(tables) => self.clients = Some((path.to_owned(), tables)),
                    None => {
                        let fault = "each client is a table of its own; begin it with [[client]]";
                        self.mistakes.push(Mistake::new(place, fault));
                    }
                }
                continue;
            }
            let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
                self.mistakes
                    .push(Mistake::new(place, "no setting has this name; see --help"));
                continue;
            };
            match texts(setting.form, value) {
                Ok(texts) => self.set(setting, texts, Origin::File(path.to_owned())),
                Err(expected) => self
                    .mistakes
                    .push(Mistake::new(place, format!("the value is not {expected}"))),
            }
        }
    }

    /// Adds the variables `DESK_…`. Others are ignored: a cluster sets variables of the same prefix
    /// for a service called `desk`.
    pub(super) fn add_environment(&mut self, variable: impl Fn(&str) -> Option<String>) {
        for setting in SETTINGS {
            let Some(text) = variable(&setting.variable()).filter(|text| !text.is_empty()) else {
                continue;
            };
            let texts = match setting.form {
                Form::List(_) => text.split(',').map(|text| text.trim().to_owned()).collect(),
                Form::One(_) | Form::Switch => vec![text],
            };
            self.set(setting, texts, Origin::Environment);
        }
    }

    /// Adds the flags of a command line.
    pub(super) fn add_flags(&mut self, matches: &ArgMatches) {
        for setting in SETTINGS {
            // a subcommand has some of the flags
            if !matches!(matches.try_contains_id(setting.name), Ok(true))
                || matches.value_source(setting.name) != Some(ValueSource::CommandLine)
            {
                continue;
            }
            let texts = match setting.form {
                Form::Switch => vec!["true".to_owned()],
                _ => matches
                    .get_many::<String>(setting.name)
                    .into_iter()
                    .flatten()
                    .cloned()
                    .collect(),
            };
            self.set(setting, texts, Origin::Flag);
        }
    }

    fn set(&mut self, setting: &Setting, texts: Vec<String>, origin: Origin) {
        self.given.insert(setting.name, Given { texts, origin });
    }

    /// Name of a setting in the source of its value.
    pub(super) fn place(&self, name: &'static str) -> String {
        match self.given.get(name).map(|given| &given.origin) {
            Some(Origin::File(path)) => format!("`{name}` in {path}"),
            Some(Origin::Environment) => one(name, "", "").variable(),
            Some(Origin::Flag) | None => format!("--{name}"),
        }
    }

    /// All values of a setting.
    pub(super) fn all(&self, name: &'static str) -> Vec<String> {
        self.given
            .get(name)
            .map(|given| given.texts.clone())
            .unwrap_or_default()
    }

    /// Value of a setting that has one.
    pub(super) fn text(&self, name: &'static str) -> Option<String> {
        self.all(name).pop()
    }

    /// Parses the values of a setting. A value that cannot be parsed is a mistake.
    pub(super) fn parsed<T>(
        &mut self,
        name: &'static str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Vec<T> {
        let mut values = Vec::new();
        for text in self.all(name) {
            match parse(&text) {
                Some(value) => values.push(value),
                None => {
                    let fault = format!("`{text}` is not {expected}");
                    self.mistakes.push(Mistake::new(self.place(name), fault));
                }
            }
        }
        values
    }

    /// Parses the value of a switch.
    pub(super) fn switch(&mut self, name: &'static str) -> Vec<bool> {
        self.parsed(name, "true or false", |text| text.parse().ok())
    }

    /// Records that the value of a setting cannot be used.
    pub(super) fn refuse(&mut self, name: &'static str, fault: impl Into<String>) {
        self.mistakes.push(Mistake::new(self.place(name), fault));
    }
}

/// Texts of a value in the file; the error is the expected form.
fn texts(form: Form, value: Value) -> Result<Vec<String>, &'static str> {
    match (form, value) {
        (Form::One(_) | Form::List(_), Value::String(text)) => Ok(vec![text]),
        (Form::One(_), Value::Integer(number)) => Ok(vec![number.to_string()]),
        (Form::Switch, Value::Boolean(is_on)) => Ok(vec![is_on.to_string()]),
        (Form::List(_), Value::Array(values)) => {
            let texts = values.into_iter().map(|value| match value {
                Value::String(text) => Ok(text),
                _ => Err("a list of strings"),
            });
            texts.collect()
        }
        (Form::One(_), _) => Err("a string"),
        (Form::List(_), _) => Err("a list of strings"),
        (Form::Switch, _) => Err("true or false"),
    }
}

/// The tables of an array of tables.
fn tables(value: Value) -> Option<Vec<Table>> {
    let Value::Array(values) = value else {
        return None;
    };
    let tables = values.into_iter().map(|value| match value {
        Value::Table(table) => Some(table),
        _ => None,
    });
    tables.collect()
}

/// Fault of a file that is no TOML, with its line.
fn syntax_error(text: &str, error: &toml::de::Error) -> String {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.bytes().take(start);
    let line = 1 + before.filter(|byte| *byte == b'\n').count();
    format!("line {line}: {}", error.message())
}
