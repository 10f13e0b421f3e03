//! JSON objects without repeated members.
//!
//! Two readers that keep different ones of two equal names see two different tokens under one signature
//! ([RFC 7515 §4](https://www.rfc-editor.org/rfc/rfc7515#section-4),
//! [RFC 8725 §2.4](https://www.rfc-editor.org/rfc/rfc8725#section-2.4)).

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Most members of one object; more are an attack on the reader's time.
const MAX_MEMBERS: usize = 128;

/// Reads one JSON object that has no member twice, at any depth.
pub(crate) fn object<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, serde_json::Error> {
    // derived structs may also be read from arrays
    if text.trim_ascii_start().first() != Some(&b'{') {
        return Err(Error::custom("not an object"));
    }
    serde_json::from_slice::<Unrepeated>(text)?;
    serde_json::from_slice(text)
}

/// For members whose mere presence matters, `null` included.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// Any JSON value; reading it fails on a repeated member.
struct Unrepeated;

impl<'de> Deserialize<'de> for Unrepeated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Unrepeated {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut names: Vec<Cow<'de, str>> = Vec::with_capacity(16);
        while let Some(Name(name)) = members.next_key()? {
            if names.len() == MAX_MEMBERS || names.contains(&name) {
                return Err(Error::custom("a member is repeated, or there are too many"));
            }
            names.push(name);
            members.next_value::<Self>()?;
        }
        Ok(self)
    }
}

/// A member's name with its escapes resolved, borrowed where it has none.
struct Name<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;

        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }

        deserializer.deserialize_str(NameVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// O15, 72: no member twice, however it is written and wherever it hides.
    #[test]
    fn a_repeated_member_is_refused() {
        let refused = [
            r#"{"a":1,"a":2}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"x":{"a":1,"b":2,"a":3}}"#,
            r#"{"x":[0,{"a":null,"a":null}]}"#,
            r#"{"":1,"":2}"#,
        ];
        for text in refused {
            assert!(object::<Value>(text.as_bytes()).is_err(), "{text}");
        }
        assert!(object::<Value>(br#"{"a":{"a":1},"b":[{"a":1.5},{"a":-1}],"c":true,"A":null}"#).is_ok());
    }

    #[test]
    fn only_an_object_is_an_object() {
        for text in [
            "",
            "[]",
            "[{}]",
            "null",
            "\"{}\"",
            "{}x",
            "{} {}",
            "{",
            "\u{feff}{}",
            "{'a':1}",
            "{\"a\":1,}",
        ] {
            assert!(object::<Value>(text.as_bytes()).is_err(), "{text:?}");
        }
        assert!(object::<Value>(b"{\"a\":\"\xff\"}").is_err());
    }

    #[test]
    fn an_object_of_a_thousand_members_is_refused() {
        let members: Vec<String> = (0..1000).map(|index| format!("\"{index}\":0")).collect();
        assert!(object::<Value>(format!("{{{}}}", members.join(",")).as_bytes()).is_err());
    }

    #[test]
    fn depth_is_bounded() {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(object::<Value>(text.as_bytes()).is_err());
    }
}
