//! What an audit looks for.

use std::fmt;

/// One thing that a server can get wrong.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Rule {
    /// An answer has no `X-Request-Id`, or several.
    NoRequestId,
    /// An id of the caller is echoed that could break the lines of a log.
    HarmfulRequestId,
    /// Content comes without `Content-Type`.
    NoContentType,
    /// A 204 or 304 has content, or a 304 describes some.
    UnexpectedContent,
    /// A 401 does not say how to authenticate.
    NoChallenge,
    /// A 405 does not say what is allowed.
    NoAllow,
    /// A 405 lists the very method that it refuses.
    AllowsWhatItRefuses,
    /// A 201, a 202 or a redirect does not say where.
    NoLocation,
    /// A 301 or 302 answers a request whose method it lets clients change.
    LosesMethod,
    /// A 429 or 503 does not say when to come back.
    NoRetryAfter,
    /// `Retry-After` is malformed, or says to come back at once.
    InvalidRetryAfter,
    /// An error is no problem.
    NoProblem,
    /// A problem is malformed, or is of another status than its answer.
    InvalidProblem,
    /// A success has a problem as its content.
    ProblemInSuccess,
    /// A field about rate limits is malformed.
    InvalidRateLimit,
    /// A 428, 429 or 431 may be kept by caches.
    StoredRefusal,
    /// What one origin may read does not vary by the origin.
    NoVaryOrigin,
    /// Any origin may read an answer, and with credentials.
    CredentialsForAnyOrigin,
    /// An `ETag` is malformed.
    InvalidEntityTag,
    /// `Deprecation` or `Sunset` is malformed.
    InvalidLifecycle,
    /// `Sunset` comes before `Deprecation`.
    SunsetBeforeDeprecation,
    /// A page says that there is more and not where, or where and not that there is.
    InvalidPage,
    /// HEAD is answered in another way than GET.
    HeadDiffers,
    /// A read that names the current entity tag gets everything again.
    NotRevalidated,
    /// A write that names another entity tag passes.
    LostUpdate,
    /// A repeated key does not bring the first answer back.
    NotReplayed,
    /// Requests with one key took effect more than once.
    RanTwice,
    /// One key passes for another request.
    KeyReused,
    /// A changed cursor is no 400.
    TamperedCursor,
    /// A limit out of range is no 400.
    LimitOutOfRange,
    /// A method that nobody knows is neither a 405 nor a 501.
    UnknownMethod,
    /// An origin that nobody listed may read the answer with credentials.
    ReflectedOrigin,
}

type Row = (Rule, &'static str, &'static str, &'static str);

/// Name, rule of the suite, source.
static TABLE: [Row; 32] = [
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
    /// Every rule.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(rule, ..)| *rule)
    }

    /// Its name in reports: lowercase words with hyphens. It never changes.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The rule of this suite that it is of, `H1` to `H22`.
    #[must_use]
    pub fn convention(self) -> &'static str {
        self.row().2
    }

    /// Where it is written: a section of an RFC, of a draft, or of the Fetch standard.
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

/// As much of an answer as a finding quotes.
const LONGEST_DETAIL: usize = 300;

/// One thing that is wrong with an answer.
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

    /// What was broken.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// What was seen, for whoever mends it. It may quote the answer, of which a terminal may be shown all that stands here: what is
    /// not printable is escaped, and what is long cut off.
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

/// What others wrote, escaped where it would steer a terminal or turn a line around.
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
