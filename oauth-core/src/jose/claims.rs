//! Claims of all tokens: times and audiences.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime};

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::issuer_profile::strings;
use super::jwt::JwtError;
use crate::time::later;

/// Maximum of the tolerated clock difference: one minute. A larger value would extend the lifetime
/// of stolen tokens.
pub(crate) const MAX_LEEWAY: Duration = Duration::from_secs(60);
/// Default of the tolerated clock difference: five seconds, enough for synchronised clocks.
pub(super) const DEFAULT_LEEWAY: Duration = Duration::from_secs(5);
/// Last second of the year 9999. Later dates are mistakes and would overflow `SystemTime` on some
/// platforms.
const LAST_SECOND: u64 = 253_402_300_799;

/// Reduces a leeway to at most one minute.
pub(super) fn capped(leeway: Duration) -> Duration {
    leeway.min(MAX_LEEWAY)
}

/// Seconds since 1970, [RFC 7519 §2](https://www.rfc-editor.org/rfc/rfc7519#section-2).
///
/// A fraction is truncated, as some issuers send one. Dates before 1970 and after the year 9999 are
/// refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct NumericDate(SystemTime);

impl NumericDate {
    pub(crate) fn time(self) -> SystemTime {
        self.0
    }
}

impl From<SystemTime> for NumericDate {
    fn from(time: SystemTime) -> Self {
        Self(time)
    }
}

impl Serialize for NumericDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let since_epoch = self
            .0
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_err(serde::ser::Error::custom)?;
        serializer.serialize_u64(since_epoch.as_secs())
    }
}

impl<'de> Deserialize<'de> for NumericDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DateVisitor;

        impl Visitor<'_> for DateVisitor {
            type Value = Duration;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("seconds from 1970 to the year 9999")
            }

            fn visit_u64<E: Error>(self, seconds: u64) -> Result<Duration, E> {
                Ok(Duration::from_secs(seconds))
            }

            fn visit_f64<E: Error>(self, seconds: f64) -> Result<Duration, E> {
                let date = Duration::try_from_secs_f64(seconds);
                let whole = date.map(|date| Duration::from_secs(date.as_secs()));
                whole.map_err(|_| E::custom("not a date"))
            }
        }

        let since_epoch = deserializer.deserialize_any(DateVisitor)?;
        if since_epoch.as_secs() > LAST_SECOND {
            return Err(Error::custom("a date after the year 9999"));
        }
        Ok(Self(SystemTime::UNIX_EPOCH + since_epoch))
    }
}

/// Time claims of a token: `exp`, `iat` and `nbf`.
pub(crate) struct Times {
    pub(crate) expires_at: NumericDate,
    pub(crate) issued_at: NumericDate,
    pub(crate) not_before: Option<NumericDate>,
}

impl Times {
    /// Checks that `now` is within the lifetime of the token, extended by `leeway` at both ends.
    /// The lifetime starts at the later of `iat` and `nbf` and ends before `exp`.
    pub(crate) fn check(&self, now: SystemTime, leeway: Duration) -> Result<(), JwtError> {
        let starts_at = self.not_before.map_or(self.issued_at.time(), |date| {
            date.time().max(self.issued_at.time())
        });
        if now >= later(self.expires_at.time(), leeway) {
            return Err(JwtError::Expired);
        }
        if starts_at > later(now, leeway) {
            return Err(JwtError::NotYetValid);
        }
        Ok(())
    }
}

/// `aud` claim: a string or an array of strings, [RFC 7519
/// §4.1.3](https://www.rfc-editor.org/rfc/rfc7519#section-4.1.3).
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Audiences<'a>(pub(crate) Vec<Cow<'a, str>>);

impl Audiences<'static> {
    /// Reads the claim; `None` if it is neither a text nor a list of texts.
    pub(super) fn owned(claim: &Value) -> Option<Self> {
        let audiences = match claim {
            Value::String(audience) => vec![audience.clone()],
            list => strings(list)?,
        };
        Some(Self(audiences.into_iter().map(Cow::Owned).collect()))
    }
}

impl Audiences<'_> {
    pub(crate) fn contains(&self, audience: &str) -> bool {
        self.0.iter().any(|candidate| candidate == audience)
    }
}

impl Serialize for Audiences<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [single] => single.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Audiences<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AudiencesVisitor;

        impl<'de> Visitor<'de> for AudiencesVisitor {
            type Value = Audiences<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of strings")
            }

            fn visit_borrowed_str<E: Error>(self, audience: &'de str) -> Result<Audiences<'de>, E> {
                Ok(Audiences(vec![Cow::Borrowed(audience)]))
            }

            fn visit_str<E: Error>(self, audience: &str) -> Result<Audiences<'de>, E> {
                Ok(Audiences(vec![Cow::Owned(audience.to_owned())]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Audiences<'de>, A::Error> {
                let mut audiences = Vec::new();
                while let Some(audience) = items.next_element::<String>()? {
                    audiences.push(Cow::Owned(audience));
                }
                Ok(Audiences(audiences))
            }
        }

        deserializer.deserialize_any(AudiencesVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// O15, 74: a token is invalid from the instant of `exp` on, and before `nbf`.
    #[test]
    fn life_ends_at_the_instant_of_expiry() {
        let times = Times {
            expires_at: at(200).into(),
            issued_at: at(100).into(),
            not_before: Some(at(110).into()),
        };
        let check = |now, leeway, expected| {
            assert_eq!(
                times.check(now, Duration::from_secs(leeway)),
                expected,
                "{now:?} {leeway}"
            );
        };
        let nearly = |seconds| at(seconds) - Duration::from_nanos(1);
        check(nearly(200), 0, Ok(()));
        check(at(200), 0, Err(JwtError::Expired));
        check(nearly(205), 5, Ok(()));
        check(at(205), 5, Err(JwtError::Expired));
        check(at(110), 0, Ok(()));
        check(nearly(110), 0, Err(JwtError::NotYetValid));
        check(at(105), 5, Ok(()));
        check(nearly(105), 5, Err(JwtError::NotYetValid));
    }

    /// O15, 74: a token becomes valid at the later of `nbf` and `iat`.
    #[test]
    fn life_begins_with_the_later_of_two_dates() {
        for not_before in [None, Some(at(90).into()), Some(at(100).into())] {
            let times = Times {
                expires_at: at(200).into(),
                issued_at: at(100).into(),
                not_before,
            };
            assert_eq!(times.check(at(99), Duration::ZERO), Err(JwtError::NotYetValid));
            assert_eq!(times.check(at(100), Duration::ZERO), Ok(()));
        }
    }

    /// O15, O33, 74: a numeric date is a number of seconds from 1970 to the year 9999; a fraction
    /// is truncated.
    #[test]
    fn numbers_from_1970_to_9999_are_dates() {
        let parse = |text: &str| serde_json::from_str::<NumericDate>(text).ok();
        for (text, seconds) in [
            ("0", 0),
            ("253402300799", 253_402_300_799),
            ("1700000000.0", 1_700_000_000),
            ("1700000000.25", 1_700_000_000),
            ("1699999999.999999999", 1_700_000_000),
            ("1700000000.999999", 1_700_000_000),
            ("0.9", 0),
            ("1.7e9", 1_700_000_000),
        ] {
            assert_eq!(parse(text), Some(NumericDate(at(seconds))), "{text}");
        }
        for text in [
            "253402300800",
            "253402300800.5",
            "18446744073709551615",
            "1e20",
            "1e400",
            "-1",
            "-0.5",
            "\"1\"",
            "null",
            "true",
            "[1]",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_audience_is_a_string_or_an_array_of_strings() {
        let parse = |text: &'static str| serde_json::from_str::<Audiences<'_>>(text).ok();
        assert_eq!(parse(r#""a""#), Some(Audiences(vec!["a".into()])));
        assert_eq!(
            parse(r#"["a","b"]"#),
            Some(Audiences(vec!["a".into(), "b".into()]))
        );
        for text in ["1", "null", r#"{"a":1}"#, r#"["a",1]"#, r#"[["a"]]"#] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    /// 74: a leeway is limited to one minute.
    #[test]
    fn a_leeway_never_exceeds_a_minute() {
        assert_eq!(capped(Duration::from_secs(3600)), Duration::from_secs(60));
    }
}
