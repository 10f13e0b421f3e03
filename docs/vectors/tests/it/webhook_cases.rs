//! Cases of the files about webhooks: a request, the keys of its receiver, the verdict.

use std::time::{Duration, SystemTime};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderName, Request};
use serde::Serialize;
use webhook_core::{
    receiver::{Provider, VerifyError, VerifyFailure},
    signature::scheme::Scheme,
};

use crate::file::named;

/// Case of a request that a receiver verifies.
#[derive(Clone, Serialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Origin of the signature: a library, a document or this suite.
    pub(crate) source: String,
    pub(crate) scheme: &'static str,
    pub(crate) keys: Vec<String>,
    /// URL that the receiver is configured with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    #[serde(skip_serializing_if = "is_post")]
    pub(crate) method: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) query: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
    pub(crate) now: u64,
    /// Tolerance in seconds, if it is not that of the scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tolerance: Option<u64>,
    pub(crate) expect: Verdict,
    /// Signed timestamp of an accepted request.
    #[serde(skip)]
    pub(crate) signed_at: Option<u64>,
}

named!(Case);

/// Verdict of the receiver.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Verdict {
    pub(crate) accepted: bool,
    /// Id that detects duplicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// Reason of a refusal, or, of an accepted request, why it has no id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Exact bytes of a body.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Body {
    Base64(String),
    Repeated { byte: u8, count: usize },
}

impl From<&[u8]> for Body {
    fn from(bytes: &[u8]) -> Self {
        Self::Base64(BASE64_STANDARD.encode(bytes))
    }
}

impl Body {
    pub(crate) fn bytes(&self) -> Bytes {
        match self {
            Self::Base64(text) => BASE64_STANDARD.decode(text).unwrap().into(),
            Self::Repeated { byte, count } => vec![*byte; *count].into(),
        }
    }
}

fn is_post(method: &str) -> bool {
    method == "POST"
}

impl Case {
    /// Case with the verdict of the library.
    pub(crate) fn judged(mut self, scheme: &'static Scheme) -> Self {
        let provider = Provider::new(self.scheme, scheme);
        let Ok(mut verifier) = provider.verifier(&self.keys) else {
            return self.refused("invalid-key".to_owned());
        };
        if let Some(url) = &self.url {
            verifier = verifier.with_url(url);
        }
        if let Some(tolerance) = self.tolerance {
            verifier = verifier.with_tolerance(Duration::from_secs(tolerance));
        }
        let (request, now) = (
            self.request(),
            SystemTime::UNIX_EPOCH + Duration::from_secs(self.now),
        );
        match verifier.verify(&request, request.body().clone(), now) {
            Ok(verified) => {
                let since_1970 = |at: SystemTime| at.duration_since(SystemTime::UNIX_EPOCH).unwrap();
                self.signed_at = verified.timestamp().map(|at| since_1970(at).as_secs());
                let id = verified.authenticated_id().map(|id| id.to_string());
                self.expect = Verdict {
                    accepted: true,
                    id: id.clone().ok(),
                    reason: id.err().map(reason),
                };
                self
            }
            Err(error) => self.refused(reason(error)),
        }
    }

    fn refused(mut self, reason: String) -> Self {
        self.expect = Verdict {
            reason: Some(reason),
            ..Verdict::default()
        };
        self
    }

    fn request(&self) -> Request<Bytes> {
        let query = self.query.as_ref().map(|query| format!("?{query}"));
        let mut request = Request::builder()
            .method(self.method.as_str())
            .uri(format!("/hooks{}", query.unwrap_or_default()))
            .body(self.body.bytes())
            .unwrap();
        for (name, value) in &self.headers {
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        request
    }

    /// Values of the case that are the same in most of them.
    pub(crate) fn new(name: &str, source: &str, scheme: &'static str, now: u64) -> Self {
        Self {
            name: name.to_owned(),
            source: source.to_owned(),
            scheme,
            keys: Vec::new(),
            url: None,
            method: "POST".to_owned(),
            query: None,
            headers: Vec::new(),
            body: Body::Base64(String::new()),
            now,
            tolerance: None,
            expect: Verdict::default(),
            signed_at: None,
        }
    }

    /// The case under another name, changed.
    pub(crate) fn but(&self, name: &str, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = self.clone();
        changed.name = format!("{}: {name}", self.name);
        changed.source = "this suite".to_owned();
        change(&mut changed);
        changed
    }

    /// Value of the only header of this name.
    pub(crate) fn header(&mut self, name: &str) -> &mut String {
        let mut found = self.headers.iter_mut().filter(|(own, _)| own == name);
        &mut found.next().unwrap().1
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.headers.retain(|(own, _)| own != name);
    }

    pub(crate) fn append(&mut self, name: &str, value: &str) {
        self.headers.push((name.to_owned(), value.to_owned()));
    }
}

/// Name of a refusal: that of the variant, in lower case with hyphens.
fn reason(error: VerifyError) -> String {
    let name = match error.reason() {
        VerifyFailure::MissingHeader => "missing-header",
        VerifyFailure::RepeatedHeader => "repeated-header",
        VerifyFailure::InvalidId => "invalid-id",
        VerifyFailure::InvalidTimestamp => "invalid-timestamp",
        VerifyFailure::TooManySignatures => "too-many-signatures",
        VerifyFailure::NoUsableSignature => "no-usable-signature",
        VerifyFailure::Mismatch => "mismatch",
        VerifyFailure::TooOld => "too-old",
        VerifyFailure::TooNew => "too-new",
        VerifyFailure::MissingEnvelopeId => "missing-envelope-id",
        VerifyFailure::IdMismatch => "id-mismatch",
        VerifyFailure::NoUrl => "no-url",
        other => panic!("the format of docs/vectors has no name for {other:?}"),
    };
    name.to_owned()
}
