//! The log: one structured event for each request, refusal, authorization event and webhook
//! attempt, as text or as JSON.
//!
//! No event contains a token, a password, a cookie, a code, a query string or a body. Paths are
//! logged as templates of their routes.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use tracing::Subscriber;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::{MakeWriter, layer};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry;

/// Format of the log lines.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum LogFormat {
    /// Text for people.
    #[default]
    Pretty,
    /// One JSON object a line.
    Json,
}

impl FromStr for LogFormat {
    type Err = UnknownLogFormat;

    fn from_str(name: &str) -> Result<Self, UnknownLogFormat> {
        match name {
            "pretty" => Ok(Self::Pretty),
            "json" => Ok(Self::Json),
            _ => Err(UnknownLogFormat),
        }
    }
}

/// The name is no format of log lines.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("unknown log format; use pretty or json")]
pub struct UnknownLogFormat;

/// Least severe level of the log, also by target: `info`, or `warn,service::request=info`.
#[derive(Clone, Debug, PartialEq)]
pub struct LogFilter(Targets);

impl Default for LogFilter {
    fn default() -> Self {
        Self(Targets::new().with_default(tracing::Level::INFO))
    }
}

impl FromStr for LogFilter {
    type Err = InvalidLogFilter;

    fn from_str(text: &str) -> Result<Self, InvalidLogFilter> {
        // `Targets` alone reads a misspelt level as the name of a target
        let is_level = |level: &str| !level.is_empty() && level.parse::<LevelFilter>().is_ok();
        let is_part = |part: &str| match part.split_once('=') {
            Some((target, level)) => !target.is_empty() && is_level(level),
            None => is_level(part),
        };
        let filter = text.parse().ok().filter(|_| text.split(',').all(is_part));
        filter.map(Self).ok_or(InvalidLogFilter)
    }
}

impl fmt::Display for LogFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text is no filter of log lines.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("invalid log filter; use a level such as info")]
pub struct InvalidLogFilter;

/// Subscriber that writes the events to `writer`.
pub fn subscriber<W>(format: LogFormat, filter: LogFilter, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = layer()
        .with_writer(writer)
        .with_ansi(false)
        // it would be printed to standard error, which may be the closed writer
        .log_internal_errors(false);
    let lines = match format {
        LogFormat::Pretty => lines.boxed(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_span_list(false)
            .boxed(),
    };
    registry().with(lines.with_filter(filter.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_is_level_or_levels_of_targets() {
        let check = |text: &str, is_valid| assert_eq!(text.parse::<LogFilter>().is_ok(), is_valid, "{text}");
        for text in ["info", "warn,service::request=debug", "off"] {
            check(text, true);
        }
        for text in ["", " ", "loud", "service=loud", "=info", "info,", "=,="] {
            check(text, false);
        }
        assert_eq!("json".parse(), Ok(LogFormat::Json));
        assert_eq!("xml".parse::<LogFormat>(), Err(UnknownLogFormat));
    }
}
