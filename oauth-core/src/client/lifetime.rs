use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// `expires_in` in any spelling. A response with an unusual spelling must not be lost, because the
/// old refresh token may already be invalid.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Lifetime<'a> {
    Whole(u32),
    Float(f64),
    #[serde(borrow)]
    Text(Cow<'a, str>),
    Other(IgnoredAny),
}

impl Lifetime<'_> {
    /// Whole seconds, as digits or as a number; `None` for anything else.
    pub(super) fn known(&self) -> Option<Duration> {
        let seconds = match self {
            Self::Whole(seconds) => Some(*seconds),
            Self::Float(seconds) => whole(*seconds),
            Self::Text(text) => digits(text),
            Self::Other(_) => None,
        };
        seconds.map(|seconds| Duration::from_secs(seconds.into()))
    }
}

fn whole(seconds: f64) -> Option<u32> {
    let span = Duration::try_from_secs_f64(seconds).ok()?;
    u32::try_from(span.as_secs())
        .ok()
        .filter(|_| span.subsec_nanos() == 0)
}

fn digits(text: &str) -> Option<u32> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_decimal)
}
