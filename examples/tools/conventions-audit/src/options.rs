//! The command line.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::plan::Write;

/// What `--help` says.
pub const USAGE: &str = "\
usage: conventions-audit URL [--openapi PATH] [--path PATH]... [--write PATH=JSON]...
                         [--header 'Name: value']... [--json]

  URL        where the API is, such as http://127.0.0.1:8080; plain http, for a server of one's own
  --openapi  its OpenAPI document: every GET without parameters in its path is audited, and every POST that takes an
             Idempotency-Key and has an example, which is sent several times
  --path     a further path to read
  --write    a further POST with an Idempotency-Key, such as '/v1/charges={\"amount\":100}', which is sent several times
  --header   sent with every request, such as 'Authorization: Bearer ...'
  --json     one JSON object instead of text

ends with 0 where nothing was found, 1 with findings, 2 where there was nothing to audit";

/// What is asked for.
#[derive(Debug)]
pub enum Command {
    /// The usage.
    Help,
    /// An audit.
    Audit(Options),
}

/// What to audit.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Where the API is.
    pub base: String,
    /// The path of its OpenAPI document.
    pub openapi: Option<String>,
    /// Further paths to read.
    pub paths: Vec<String>,
    /// Further requests that make something.
    pub writes: Vec<Write>,
    /// Sent with every request.
    pub headers: HeaderMap,
    /// Whether to report in JSON.
    pub json: bool,
}

/// The command line is not as the usage says.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(String);

impl Command {
    /// Reads the arguments, without the name of the program.
    ///
    /// # Errors
    ///
    /// When one is unknown, or lacks its value.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, UsageError> {
        let mut arguments = arguments.into_iter();
        let mut options = Options::default();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| UsageError(format!("{argument} needs a value")))
            };
            match argument.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--json" => options.json = true,
                "--openapi" => options.openapi = Some(value()?),
                "--path" => options.paths.push(value()?),
                "--write" => options.writes.push(write(&value()?)?),
                "--header" => {
                    let (name, value) = header(&value()?)?;
                    options.headers.append(name, value);
                }
                _ if !argument.starts_with('-') && options.base.is_empty() => options.base = argument,
                _ => return Err(UsageError(format!("{argument} is not understood"))),
            }
        }
        match options.base.is_empty() {
            true => Err(UsageError("there is no URL".to_owned())),
            false => Ok(Self::Audit(options)),
        }
    }
}

fn write(text: &str) -> Result<Write, UsageError> {
    let malformed = || UsageError(format!("{text:?} is no PATH=JSON"));
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
    let malformed = || UsageError(format!("{text:?} is no header"));
    let (name, value) = text.split_once(':').ok_or_else(malformed)?;
    let name = name.trim().parse().map_err(|_| malformed())?;
    let value = value.trim().parse().map_err(|_| malformed())?;
    Ok((name, value))
}
