//! The command line.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::plan::Write;

/// Text of `--help`.
pub const USAGE: &str = "\
usage: conventions-audit URL [--openapi PATH] [--path PATH]... [--write PATH=JSON]...
                         [--header 'Name: value']... [--json]
       conventions-audit --attack URL [--path PATH] [--except NAME]... [--json]

  URL        base URL of the API, such as http://127.0.0.1:8080; plain http, for your own server
  --openapi  path of its OpenAPI document: audits every GET without parameters in its path, and every POST with an
             Idempotency-Key and an example, which is sent several times
  --path     a further path to read
  --write    a further POST with an Idempotency-Key, such as '/v1/charges={\"amount\":100}', which is sent several times
  --header   a header of every request, such as 'Authorization: Bearer ...'
  --json     one JSON object instead of text
  --attack   send raw requests instead: malformed, smuggled, slow, half-closed and unread ones, over plain sockets
  --except   the name of an attack that is left out

exit: 0 no findings; 1 findings; 2 nothing to audit";

/// A parsed command line.
#[derive(Debug)]
pub enum Command {
    /// Print the usage.
    Help,
    /// Run an audit.
    Audit(Options),
    /// Attack a server.
    Attack(AttackOptions),
}

/// Options of an attack.
#[derive(Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AttackOptions {
    /// Base URL of the server.
    pub base: String,
    /// Path of a resource that answers GET and POST without a 5xx; `/` by default.
    pub path: String,
    /// Names of the attacks that are left out.
    pub excepted: Vec<String>,
    /// `true` for a report in JSON instead of text.
    pub json: bool,
}

/// Options of an audit.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Base URL of the API.
    pub base: String,
    /// Path of the OpenAPI document of the API.
    pub openapi: Option<String>,
    /// Further paths to send a GET request to.
    pub paths: Vec<String>,
    /// Further POST requests with an `Idempotency-Key`.
    pub writes: Vec<Write>,
    /// Headers to send with every request.
    pub headers: HeaderMap,
    /// `true` for a report in JSON instead of text.
    pub json: bool,
}

/// Error of an invalid command line.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(String);

impl Command {
    /// Parses the arguments, without the name of the program.
    ///
    /// # Errors
    ///
    /// An argument is unknown, lacks its value or has a malformed value, or the URL is missing.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, UsageError> {
        let mut arguments = arguments.into_iter();
        let mut options = Options::default();
        let (mut is_attack, mut excepted) = (false, Vec::new());
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| UsageError(format!("{argument} needs a value")))
            };
            match argument.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--json" => options.json = true,
                "--attack" => is_attack = true,
                "--except" => excepted.push(value()?),
                "--openapi" => options.openapi = Some(value()?),
                "--path" => options.paths.push(value()?),
                "--write" => options.writes.push(write(&value()?)?),
                "--header" => {
                    let (name, value) = header(&value()?)?;
                    options.headers.append(name, value);
                }
                _ if !argument.starts_with('-') && options.base.is_empty() => options.base = argument,
                _ => return Err(UsageError(format!("unknown argument {argument}"))),
            }
        }
        if options.base.is_empty() {
            let missing = "URL is missing, for example http://127.0.0.1:8080";
            return Err(UsageError(missing.to_owned()));
        }
        match is_attack {
            true => attack(options, excepted).map(Self::Attack),
            false if !excepted.is_empty() => Err(UsageError("--except needs --attack".to_owned())),
            false => Ok(Self::Audit(options)),
        }
    }
}

fn attack(options: Options, excepted: Vec<String>) -> Result<AttackOptions, UsageError> {
    let Options {
        base,
        openapi,
        mut paths,
        writes,
        headers,
        json,
    } = options;
    let path = paths.pop().unwrap_or_else(|| "/".to_owned());
    let is_alone = openapi.is_none() && paths.is_empty() && writes.is_empty() && headers.is_empty();
    if !is_alone {
        let too_much = "--attack takes one --path, --except and --json only";
        return Err(UsageError(too_much.to_owned()));
    }
    Ok(AttackOptions {
        base,
        path,
        excepted,
        json,
    })
}

fn write(text: &str) -> Result<Write, UsageError> {
    let malformed = || UsageError(format!("--write: {text:?} is not PATH=JSON"));
    let (path, body) = text.split_once('=').ok_or_else(malformed)?;
    let body = serde_json::from_str(body).map_err(|_| malformed())?;
    match path.starts_with('/') {
        true => Ok(Write {
            path: path.to_owned(),
            body,
        }),
        false => Err(malformed()),
    }
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), UsageError> {
    let malformed = || UsageError(format!("--header: {text:?} is not `Name: value`"));
    let (name, value) = text.split_once(':').ok_or_else(malformed)?;
    let name = name.trim().parse().map_err(|_| malformed())?;
    let value = value.trim().parse().map_err(|_| malformed())?;
    Ok((name, value))
}
