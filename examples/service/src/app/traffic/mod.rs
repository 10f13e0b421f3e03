//! The last requests, for the console: exact except for secrets, which are removed before anything
//! is stored.
//!
//! The list is in memory and bounded in number and bytes. It has neither the static files nor the
//! pages of the console itself.

mod curl;
mod redact;
mod trail;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::sync::watch;

use super::effects::Effect;

pub(super) use trail::{STAGES, Stage, Trail};

/// Maximum number of requests that are kept.
const REQUESTS: usize = 1_000;
/// Maximum number of bytes of all requests.
const BYTES: usize = 8 * 1024 * 1024;
/// Maximum length of a target, in bytes.
const TARGET: usize = 2_048;

/// A request and its response, without secrets.
#[derive(Debug)]
pub(super) struct Seen {
    /// Request id of the response; empty without one.
    pub(super) id: String,
    pub(super) at: SystemTime,
    pub(super) took: Duration,
    pub(super) method: Method,
    pub(super) target: String,
    pub(super) sent: Half,
    pub(super) status: StatusCode,
    pub(super) answer: Half,
    /// Stage that ended the request.
    pub(super) ended_by: Stage,
    /// Duration of each stage that was reached.
    pub(super) durations: [Option<Duration>; STAGES.len()],
    /// The stored response of an earlier request was sent.
    pub(super) is_replay: bool,
    /// The response is a stream, whose end is not known here.
    pub(super) is_stream: bool,
    /// Resources that the handler changed.
    pub(super) effects: Vec<Effect>,
}

/// Header fields and content of a request or a response, without secrets.
#[derive(Debug)]
pub(super) struct Half {
    /// Names and values; a secret value is [`REDACTED`](redact::REDACTED).
    pub(super) fields: Vec<(String, String)>,
    pub(super) content: String,
}

impl Half {
    fn of(headers: &HeaderMap, content: Option<&Bytes>) -> Self {
        Self {
            fields: redact::fields(headers),
            content: redact::content(headers, content),
        }
    }

    fn size(&self) -> usize {
        let of_fields = self.fields.iter().map(|(name, value)| name.len() + value.len());
        of_fields.sum::<usize>() + self.content.len()
    }
}

impl Seen {
    fn size(&self) -> usize {
        let of_effects = self
            .effects
            .iter()
            .map(|effect| size_of::<Effect>() + effect.id.len());
        let of_halves = self.sent.size() + self.answer.size();
        size_of::<Self>() + self.id.len() + self.target.len() + of_halves + of_effects.sum::<usize>()
    }

    /// The request as a command of curl. Its token is a variable.
    pub(super) fn curl(&self, base_url: &str) -> String {
        curl::command(self, base_url)
    }

    /// Slug of the problem type in the answer.
    pub(super) fn problem(&self) -> Option<String> {
        let answer: serde_json::Value = serde_json::from_str(&self.answer.content).ok()?;
        let kind = answer.get("type")?.as_str()?;
        let (_, slug) = kind.rsplit_once("/problems/")?;
        Some(slug.to_owned())
    }

    /// Path without the query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// A request whose response is not known yet.
#[derive(Debug)]
pub(super) struct Asked {
    at: SystemTime,
    method: Method,
    target: String,
    sent: Half,
    trail: Trail,
}

impl Asked {
    /// Copies what may be kept of the request. Returns `None` for a static file or a page of the
    /// console.
    pub(super) fn of(request: &mut Request<Bytes>, at: SystemTime) -> Option<Self> {
        let path = request.uri().path();
        if path == "/" || path.starts_with("/assets/") || path.starts_with("/console/") {
            return None;
        }
        let trail = Trail::begin();
        let asked = Self {
            at,
            method: request.method().clone(),
            target: redact::target(request.uri(), TARGET),
            sent: Half::of(request.headers(), Some(request.body())),
            trail: trail.clone(),
        };
        request.extensions_mut().insert(trail);
        Some(asked)
    }

    /// Adds the response. `content` is `None` for a stream.
    pub(super) fn answered(self, head: &Response<()>, content: Option<&Bytes>, now: SystemTime) -> Seen {
        let headers = head.headers();
        let id = headers.get("x-request-id").and_then(|id| id.to_str().ok());
        let is_replay = headers.contains_key("idempotency-replayed");
        Seen {
            id: id.unwrap_or_default().to_owned(),
            at: self.at,
            took: now.duration_since(self.at).unwrap_or_default(),
            method: self.method,
            target: self.target,
            sent: self.sent,
            status: head.status(),
            answer: Half::of(headers, content),
            ended_by: self.trail.ended_by(head.status(), is_replay),
            durations: self.trail.durations(),
            is_replay,
            is_stream: content.is_none(),
            effects: Vec::new(),
        }
    }
}

/// The last requests, newest first.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    kept: Mutex<Kept>,
    added: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Kept {
    requests: VecDeque<Arc<Seen>>,
    bytes: usize,
}

impl Traffic {
    /// Adds a request, and forgets the oldest beyond the bounds.
    pub(super) fn add(&self, seen: Seen) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += seen.size();
        kept.requests.push_front(Arc::new(seen));
        while kept.requests.len() > REQUESTS || kept.bytes > BYTES {
            match kept.requests.pop_back() {
                Some(oldest) => kept.bytes = kept.bytes.saturating_sub(oldest.size()),
                None => kept.bytes = 0,
            }
        }
        self.added.send_replace(());
    }

    /// Receiver that changes when a request is added.
    pub(super) fn added(&self) -> watch::Receiver<()> {
        self.added.subscribe()
    }

    /// All requests, newest first.
    pub(super) fn all(&self) -> Vec<Arc<Seen>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.requests.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(number: usize, content: usize) -> Seen {
        let mut request = Request::post(format!("/v1/charges?n={number}"))
            .header("content-type", "application/json")
            .body(Bytes::from(format!("{{\"a\":\"{}\"}}", "x".repeat(content))))
            .unwrap();
        let asked = Asked::of(&mut request, SystemTime::UNIX_EPOCH).unwrap();
        asked.answered(&Response::new(()), None, SystemTime::UNIX_EPOCH)
    }

    /// X9: the console keeps the last thousand requests, newest first.
    #[test]
    fn oldest_requests_are_forgotten_beyond_a_thousand() {
        let traffic = Traffic::default();
        for number in 0..=REQUESTS {
            traffic.add(seen(number, 1));
        }
        let all = traffic.all();
        assert_eq!(all.len(), REQUESTS);
        assert_eq!(all.first().unwrap().target, format!("/v1/charges?n={REQUESTS}"));
        assert_eq!(all.last().unwrap().target, "/v1/charges?n=1");
    }

    /// X9: large requests cannot take more memory than the bound.
    #[test]
    fn requests_are_bounded_in_bytes() {
        let traffic = Traffic::default();
        for number in 0..REQUESTS {
            traffic.add(seen(number, 60_000));
        }
        let kept = traffic.kept.lock().unwrap();
        assert!(kept.bytes <= BYTES);
        assert_eq!(
            kept.bytes,
            kept.requests.iter().map(|seen| seen.size()).sum::<usize>()
        );
    }

    #[test]
    fn pages_of_the_console_are_not_kept() {
        for path in ["/", "/console/requests", "/assets/console.css"] {
            let mut request = Request::get(path).body(Bytes::new()).unwrap();
            assert!(
                Asked::of(&mut request, SystemTime::UNIX_EPOCH).is_none(),
                "{path}"
            );
        }
    }
}
