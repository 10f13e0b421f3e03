//! The error that ends one run of a `Deserialize` implementation.

use std::fmt::{self, Write};

use serde::de::{Error, Expected, Unexpected};

use super::fault::Fault;

/// Maximum length of a kept message in bytes.
const LONGEST_MESSAGE: usize = 256;

/// Maximum number of values that a fault lists.
const MOST_LISTED: usize = 32;

/// Error of a run. Serde ends a run with the first error.
// one pointer in size, so that each `Result` of a run stays small
#[derive(Debug)]
pub(super) struct Stop(Box<Raised>);

#[derive(Debug)]
struct Raised {
    cause: Cause,
    trace: Option<Trace>,
    place: Option<Place>,
}

/// Cause of a stop.
#[derive(Debug)]
pub(super) enum Cause {
    /// The limit of faults or of work was reached.
    Exhausted,
    /// A required member that is absent.
    Missing(&'static str),
    /// A member that the type does not have.
    Unknown,
    /// A member that is given under two of its names.
    Repeated,
    /// A number beyond the range of floats.
    TooLarge,
    /// A name that is none of these.
    Options(&'static [&'static str]),
    /// A value or name of another type, with a description of what was found.
    Kind(&'static str),
    /// A wrong length.
    Length(usize),
    /// A value that the type refuses, with the message of the type. Clients see only listed
    /// messages.
    Invalid(String),
}

/// Properties of the value that an error is about, by which it can be found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trace {
    /// Address and length.
    Text(usize, usize),
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Null,
    Array,
    Object,
}

/// Location of an error.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) pointer: String,
    /// Address of the faulty value, or of the object that lacks a member.
    pub(super) address: usize,
    pub(super) about: About,
}

/// Relation of a place to the faulty value.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum About {
    #[default]
    Value,
    /// The name of the value is faulty.
    Name,
    /// An unknown value inside is faulty.
    Inside,
}

impl Stop {
    pub(super) fn new(cause: Cause) -> Self {
        Self::traced(cause, None)
    }

    fn traced(cause: Cause, trace: Option<Trace>) -> Self {
        Self(Box::new(Raised {
            cause,
            trace,
            place: None,
        }))
    }

    pub(super) const fn cause(&self) -> &Cause {
        &self.0.cause
    }

    pub(super) const fn trace(&self) -> Option<Trace> {
        self.0.trace
    }

    /// Sets the location, unless the error has one.
    pub(super) fn at(mut self, place: impl FnOnce(&Self) -> Place) -> Self {
        if self.0.place.is_none() && !matches!(self.0.cause, Cause::Exhausted) {
            self.0.place = Some(place(&self));
        }
        self
    }

    /// Cause and location; `None` if the run reached a limit.
    pub(super) fn into_place(self) -> Option<(Cause, Place)> {
        let Raised { cause, place, .. } = *self.0;
        place.map(|place| (cause, place))
    }
}

impl Cause {
    /// Fault to report. `messages` lists the messages that clients may see.
    pub(super) fn fault(&self, place: &Place, messages: &[&'static str]) -> Fault {
        let pointer = place.pointer.clone();
        let invalid = "the value is not valid";
        match self {
            Self::Kind(_) | Self::Options(_) if place.about == About::Inside => {
                Fault::new(pointer, "invalid-value", "a value inside is not accepted")
            }
            Self::Missing(_) => Fault::new(pointer, "missing", "the member is missing"),
            Self::Unknown => Fault::new(pointer, "unknown-member", "the member is unknown"),
            Self::Repeated => Fault::new(
                pointer,
                "duplicate-member",
                "the member is given twice, under two names",
            ),
            Self::TooLarge => Fault::new(pointer, "out-of-range", "the number is too large"),
            Self::Options(names) if !names.is_empty() => {
                let shown: Vec<String> = names
                    .iter()
                    .take(MOST_LISTED)
                    .map(|name| format!("`{name}`"))
                    .collect();
                let more = if names.len() > MOST_LISTED { ", …" } else { "" };
                let detail = format!("must be one of {}{more}", shown.join(", "));
                Fault::new(pointer, "unknown-value", detail)
            }
            Self::Kind(found) => {
                let detail = format!("found {found}, which is not accepted here");
                Fault::new(pointer, "wrong-type", detail)
            }
            Self::Length(length) => {
                let detail = format!("a length of {length} is not accepted here");
                Fault::new(pointer, "wrong-length", detail)
            }
            Self::Invalid(message) => {
                let listed = messages.iter().find(|listed| *listed == message);
                Fault::new(pointer, "invalid-value", *listed.unwrap_or(&invalid))
            }
            Self::Options(_) | Self::Exhausted => Fault::new(pointer, "invalid-value", invalid),
        }
    }
}

impl Trace {
    fn of(found: Unexpected<'_>) -> Option<Self> {
        match found {
            Unexpected::Bool(value) => Some(Self::Bool(value)),
            Unexpected::Unsigned(value) => Some(Self::Unsigned(value)),
            Unexpected::Signed(value) => Some(Self::Signed(value)),
            Unexpected::Float(value) => Some(Self::Float(value)),
            Unexpected::Str(text) => Some(Self::of_text(text)),
            Unexpected::Unit | Unexpected::Option => Some(Self::Null),
            Unexpected::Seq => Some(Self::Array),
            Unexpected::Map => Some(Self::Object),
            _ => None,
        }
    }

    pub(super) fn of_text(text: &str) -> Self {
        Self::Text(text.as_ptr().addr(), text.len())
    }
}

fn kind(found: Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "a boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "an integer",
        Unexpected::Float(_) => "a number with a fraction",
        Unexpected::Char(_) | Unexpected::Str(_) | Unexpected::Bytes(_) => "a string",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "an array",
        Unexpected::Map => "an object",
        _ => "a value",
    }
}

impl Error for Stop {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let mut kept = Kept(String::new());
        // an error means that the message is longer than listed messages are
        let _is_cut = write!(kept, "{message}").is_err();
        Self::new(Cause::Invalid(kept.0))
    }

    fn invalid_type(found: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self::traced(Cause::Kind(kind(found)), Trace::of(found))
    }

    fn invalid_value(found: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self::traced(Cause::Invalid(String::new()), Trace::of(found))
    }

    fn invalid_length(length: usize, _: &dyn Expected) -> Self {
        Self::new(Cause::Length(length))
    }

    fn unknown_variant(name: &str, names: &'static [&'static str]) -> Self {
        Self::traced(Cause::Options(names), Some(Trace::of_text(name)))
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self::new(Cause::Unknown)
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(Cause::Missing(name))
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self::new(Cause::Repeated)
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid content")
    }
}

impl std::error::Error for Stop {}

/// Message up to its maximum length: it may quote a long value.
struct Kept(String);

impl Write for Kept {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > LONGEST_MESSAGE {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}
