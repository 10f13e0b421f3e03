//! Rules and findings of an audit.

use std::fmt;

/// A rule that a response can break.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Rule {
    /// No `X-Request-Id`, or several.
    NoRequestId,
    /// The response repeats a malformed request id of the client, which could forge log lines.
    HarmfulRequestId,
    /// Content without `Content-Type`.
    NoContentType,
    /// A 204 or 304 with content, or a 304 with header fields that describe content.
    UnexpectedContent,
    /// A 401 without `WWW-Authenticate`.
    NoChallenge,
    /// A 405 without `Allow`.
    NoAllow,
    /// A 415 to PATCH that names neither formats in `Accept-Patch` nor codings in
    /// `Accept-Encoding`.
    NoAcceptPatch,
    /// A 405 whose `Allow` lists the refused method.
    AllowsWhatItRefuses,
    /// A 201, 202 or redirect without `Location`.
    NoLocation,
    /// A 301 or 302 to a request other than GET and HEAD. A client may follow the redirect with
    /// GET.
    LosesMethod,
    /// A 429 or 503 without `Retry-After`.
    NoRetryAfter,
    /// `Retry-After` is malformed or zero.
    InvalidRetryAfter,
    /// An error that is not a problem document.
    NoProblem,
    /// A malformed problem document, or one whose `status` differs from the response.
    InvalidProblem,
    /// A success with a problem document.
    ProblemInSuccess,
    /// A malformed rate-limit field.
    InvalidRateLimit,
    /// A 428, 429 or 431 that a cache may store.
    StoredRefusal,
    /// `Access-Control-Allow-Origin` names an origin, and `Vary: Origin` is absent.
    NoVaryOrigin,
    /// `Access-Control-Allow-Credentials` is sent together with `Access-Control-Allow-Origin: *`.
    CredentialsForAnyOrigin,
    /// A malformed `ETag`.
    InvalidEntityTag,
    /// A malformed `Server-Timing`.
    InvalidServerTiming,
    /// A malformed `Deprecation` or `Sunset`.
    InvalidLifecycle,
    /// `Sunset` is before `Deprecation`.
    SunsetBeforeDeprecation,
    /// A page body whose `has_more` and `next_cursor` contradict each other.
    InvalidPage,
    /// A 206 whose `Content-Range` is absent, malformed or contradicts its content, a 206 that was
    /// not asked for, or a 416 without the length of the content.
    InvalidRange,
    /// `Content-Digest` or `Repr-Digest` is malformed or is not the digest of the content.
    InvalidDigest,
    /// The response to HEAD differs from that to GET.
    HeadDiffers,
    /// A read whose `If-None-Match` names the current entity tag does not get 304.
    NotRevalidated,
    /// A write whose `If-Match` does not name the current entity tag succeeds.
    LostUpdate,
    /// A repeated `Idempotency-Key` does not replay the first response.
    NotReplayed,
    /// Requests with one `Idempotency-Key` took effect more than once.
    RanTwice,
    /// Responses in two content codings have the same strong entity tag.
    SharedEntityTag,
    /// The content coding depends on the request, and `Vary: Accept-Encoding` is absent.
    NoVaryEncoding,
    /// An `Idempotency-Key` is accepted for a different request.
    KeyReused,
    /// A changed page cursor does not get 400.
    TamperedCursor,
    /// A `limit` out of range does not get 400.
    LimitOutOfRange,
    /// An unknown method gets neither 405 nor 501.
    UnknownMethod,
    /// An unlisted origin may read the response with credentials.
    ReflectedOrigin,
}

type Row = (Rule, &'static str, &'static str, &'static str);

/// Name, rule of the suite, source.
static TABLE: [Row; 38] = [
    (Rule::NoRequestId, "no-request-id", "H5", "RFC 9110 §16.3.2"),
    (
        Rule::HarmfulRequestId,
        "harmful-request-id",
        "H5",
        "RFC 9110 §5.5",
    ),
    (Rule::NoContentType, "no-content-type", "H5", "RFC 9110 §8.3"),
    (
        Rule::UnexpectedContent,
        "unexpected-content",
        "H8",
        "RFC 9110 §15.4.5",
    ),
    (Rule::NoChallenge, "no-challenge", "H14", "RFC 9110 §15.5.2"),
    (Rule::NoAllow, "no-allow", "H12", "RFC 9110 §15.5.6"),
    (Rule::NoAcceptPatch, "no-accept-patch", "H27", "RFC 5789 §2.2"),
    (
        Rule::AllowsWhatItRefuses,
        "allows-what-it-refuses",
        "H12",
        "RFC 9110 §10.2.1",
    ),
    (Rule::NoLocation, "no-location", "H3", "RFC 9110 §10.2.2"),
    (Rule::LosesMethod, "loses-method", "H17", "RFC 9110 §15.4"),
    (Rule::NoRetryAfter, "no-retry-after", "H15", "RFC 6585 §4"),
    (
        Rule::InvalidRetryAfter,
        "invalid-retry-after",
        "H15",
        "RFC 9110 §10.2.3",
    ),
    (Rule::NoProblem, "no-problem", "H13", "RFC 9457 §3"),
    (Rule::InvalidProblem, "invalid-problem", "H13", "RFC 9457 §3.1"),
    (Rule::ProblemInSuccess, "problem-in-success", "H12", "RFC 9457 §3"),
    (
        Rule::InvalidRateLimit,
        "invalid-rate-limit",
        "H15",
        "draft-ietf-httpapi-ratelimit-headers-11 §3, §4",
    ),
    (Rule::StoredRefusal, "stored-refusal", "H9", "RFC 6585 §3–5"),
    (
        Rule::NoVaryOrigin,
        "no-vary-origin",
        "H18",
        "Fetch, CORS protocol and HTTP caches",
    ),
    (
        Rule::CredentialsForAnyOrigin,
        "credentials-for-any-origin",
        "H18",
        "Fetch, CORS protocol and credentials",
    ),
    (
        Rule::InvalidEntityTag,
        "invalid-entity-tag",
        "H7",
        "RFC 9110 §8.8.3",
    ),
    (
        Rule::InvalidServerTiming,
        "invalid-server-timing",
        "H31",
        "Server Timing, the Server-Timing header field",
    ),
    (
        Rule::InvalidLifecycle,
        "invalid-lifecycle",
        "H20",
        "RFC 9745 §2.1, RFC 8594 §3",
    ),
    (
        Rule::SunsetBeforeDeprecation,
        "sunset-before-deprecation",
        "H20",
        "RFC 9745 §4",
    ),
    (Rule::InvalidPage, "invalid-page", "H10", "RFC 9110 §8.1"),
    (
        Rule::InvalidRange,
        "invalid-range",
        "H32",
        "RFC 9110 §14.4, §15.3.7, §15.5.17",
    ),
    (Rule::InvalidDigest, "invalid-digest", "H33", "RFC 9530 §2, §3"),
    (Rule::HeadDiffers, "head-differs", "H2", "RFC 9110 §9.3.2"),
    (Rule::NotRevalidated, "not-revalidated", "H8", "RFC 9110 §13.1.2"),
    (Rule::LostUpdate, "lost-update", "H7", "RFC 9110 §13.1.1"),
    (
        Rule::NotReplayed,
        "not-replayed",
        "H6",
        "draft-ietf-httpapi-idempotency-key-header-07 §2.6",
    ),
    (
        Rule::RanTwice,
        "ran-twice",
        "H6",
        "draft-ietf-httpapi-idempotency-key-header-07 §2.6",
    ),
    (
        Rule::SharedEntityTag,
        "shared-entity-tag",
        "H30",
        "RFC 9110 §8.8.3.3",
    ),
    (
        Rule::NoVaryEncoding,
        "no-vary-encoding",
        "H30",
        "RFC 9110 §12.5.5",
    ),
    (
        Rule::KeyReused,
        "key-reused",
        "H6",
        "draft-ietf-httpapi-idempotency-key-header-07 §2.7",
    ),
    (Rule::TamperedCursor, "tampered-cursor", "H10", "RFC 9110 §15.5.1"),
    (
        Rule::LimitOutOfRange,
        "limit-out-of-range",
        "H10",
        "RFC 9110 §15.5.1",
    ),
    (Rule::UnknownMethod, "unknown-method", "H12", "RFC 9110 §9.1"),
    (
        Rule::ReflectedOrigin,
        "reflected-origin",
        "H18",
        "Fetch, CORS protocol and credentials",
    ),
];

impl Rule {
    /// All rules.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(rule, ..)| *rule)
    }

    /// Name in reports: lower-case words with hyphens. Names are stable.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Convention of this suite that the rule belongs to, such as `H15`.
    #[must_use]
    pub fn convention(self) -> &'static str {
        self.row().2
    }

    /// Section of the RFC, draft or standard that requires the rule.
    #[must_use]
    pub fn section(self) -> &'static str {
        self.row().3
    }

    fn row(self) -> &'static Row {
        let [first, rest @ ..] = &TABLE;
        rest.iter().find(|(rule, ..)| *rule == self).unwrap_or(first)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Maximum length of a detail in characters.
const LONGEST_DETAIL: usize = 300;

/// Violation of a [`Rule`] by a response.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    rule: Rule,
    detail: String,
}

impl Finding {
    pub(super) fn new(rule: Rule, detail: impl Into<String>) -> Self {
        Self {
            rule,
            detail: legible(&detail.into()),
        }
    }

    /// The broken rule.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// Description of the violation. It may quote the response.
    ///
    /// Safe for a terminal: unprintable characters are escaped, and the text is cut off after 300
    /// characters.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rule, detail) = (self.rule, &self.detail);
        write!(f, "{rule}: {detail} ({})", rule.section())
    }
}

/// Escapes control and bidirectional characters.
fn legible(text: &str) -> String {
    let mut legible = String::with_capacity(text.len().min(LONGEST_DETAIL));
    for character in text.chars().take(LONGEST_DETAIL) {
        match character {
            '"' | '\'' | '\\' => legible.push(character),
            _ => legible.extend(character.escape_debug()),
        }
    }
    if text.chars().nth(LONGEST_DETAIL).is_some() {
        legible.push_str("...");
    }
    legible
}
