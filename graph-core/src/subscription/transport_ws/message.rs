//! Parses client messages and renders server messages.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::http::GraphRequest;
use crate::http::json::JsonObject;
use crate::response::{GraphResponse, ResponseError};
use crate::subscription::OperationId;

/// Payload of `connection_init`, which usually carries credentials.
#[derive(Clone, Eq, PartialEq)]
pub struct ConnectionInit {
    payload: Option<Box<str>>,
}

impl ConnectionInit {
    /// Returns the payload as the text of a JSON object; `None` if the client sent no payload.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        self.payload.as_deref()
    }

    /// Returns the string member `name` of the payload, ignoring ASCII case; `None` if it is
    /// absent.
    ///
    /// # Errors
    ///
    /// [`Ambiguous`] if the value is not a string (`null` included), or if the name occurs more
    /// than once, ignoring ASCII case.
    ///
    /// # Security
    ///
    /// On this error, a host that reads credentials must refuse the connection. It must not treat
    /// the client as anonymous.
    pub fn text(&self, name: &str) -> Result<Option<String>, Ambiguous> {
        let Some(json) = self.json() else {
            return Ok(None);
        };
        Named(name)
            .deserialize(&mut serde_json::Deserializer::from_str(json))
            .map_err(|_| Ambiguous)
    }
}

/// Error for a payload member that is not a string, or occurs more than once.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("the payload member is not a string, or occurs more than once")]
#[non_exhaustive]
pub struct Ambiguous;

/// Deserializes the only string member with this name.
struct Named<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Named<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, object: D) -> Result<Self::Value, D::Error> {
        object.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Named<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = members.next_key::<Cow<'_, str>>()? {
            if !name.eq_ignore_ascii_case(self.0) {
                members.next_value::<IgnoredAny>()?;
            } else if found.replace(members.next_value::<String>()?).is_some() {
                // it is unclear which of two credentials applies
                return Err(A::Error::custom("twice"));
            }
        }
        Ok(found)
    }
}

/// Omits the payload, which can contain credentials.
impl fmt::Debug for ConnectionInit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionInit").finish_non_exhaustive()
    }
}

/// Parsed client message.
pub(super) enum ClientMessage {
    Init(ConnectionInit),
    Ping {
        payload: Option<Box<str>>,
    },
    Pong,
    Subscribe {
        id: OperationId,
        request: Box<GraphRequest>,
    },
    Complete {
        id: OperationId,
    },
}

#[derive(Deserialize)]
struct Envelope<'m> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'m, str>,
    #[serde(borrow)]
    id: Option<Cow<'m, str>>,
    #[serde(borrow)]
    payload: Option<&'m RawValue>,
}

impl ClientMessage {
    /// Parses `text`; the error describes the mistake.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let JsonObject(envelope): JsonObject<Envelope<'_>> =
            serde_json::from_str(text).map_err(|error| not_a_message(&error))?;
        Ok(match &*envelope.kind {
            "connection_init" => Self::Init(ConnectionInit {
                payload: envelope.object()?,
            }),
            "ping" => Self::Ping {
                payload: envelope.object()?,
            },
            "pong" => {
                envelope.object()?;
                Self::Pong
            }
            "subscribe" => Self::Subscribe {
                id: envelope.id()?,
                request: Box::new(envelope.request()?),
            },
            "complete" => Self::Complete { id: envelope.id()? },
            _ => return Err("unknown `type` of a client message".to_owned()),
        })
    }
}

fn not_a_message(error: &serde_json::Error) -> String {
    let what = if error.is_data() {
        "a client message"
    } else {
        "valid JSON"
    };
    format!(
        "the message is not {what} at line {}, column {}",
        error.line(),
        error.column()
    )
}

impl Envelope<'_> {
    fn id(&self) -> Result<OperationId, String> {
        let id = self.id.as_deref().unwrap_or_default();
        id.parse().map_err(|invalid| format!("`id` is {invalid}"))
    }

    fn object(&self) -> Result<Option<Box<str>>, String> {
        match self.payload {
            None => Ok(None),
            Some(payload) if payload.get().starts_with('{') => Ok(Some(payload.get().into())),
            Some(_) => Err("`payload` is not an object".to_owned()),
        }
    }

    fn request(&self) -> Result<GraphRequest, String> {
        let payload = self.object()?.ok_or("`payload` is missing")?;
        let body = Bytes::from(payload.into_boxed_bytes());
        // the length of the message bounds the values; the engine counts them
        GraphRequest::from_json(&body, usize::MAX).map_err(|refusal| refusal.message().to_owned())
    }
}

pub(super) const ACK: &str = r#"{"type":"connection_ack"}"#;
pub(super) const PING: &str = r#"{"type":"ping"}"#;

pub(super) fn pong(payload: Option<&str>) -> String {
    match payload {
        Some(payload) => format!(r#"{{"type":"pong","payload":{payload}}}"#),
        None => r#"{"type":"pong"}"#.to_owned(),
    }
}

pub(super) fn next(id: &OperationId, response: GraphResponse) -> String {
    let json = response.into_json();
    // responses are always UTF-8
    let payload = std::str::from_utf8(&json).unwrap_or(r#"{"data":null}"#);
    format!(r#"{{"id":{},"type":"next","payload":{payload}}}"#, id.quoted())
}

pub(super) fn error(id: &OperationId, errors: &[ResponseError]) -> String {
    let payload = serde_json::to_string(errors).unwrap_or_else(|_| "[]".to_owned());
    format!(r#"{{"id":{},"type":"error","payload":{payload}}}"#, id.quoted())
}

pub(super) fn complete(id: &OperationId) -> String {
    format!(r#"{{"id":{},"type":"complete"}}"#, id.quoted())
}
