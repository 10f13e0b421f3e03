//! JSON objects without repeated members.
//!
//! Two parsers that keep different ones of two equal names would read two different tokens under
//! one signature ([RFC 7515 §4](https://www.rfc-editor.org/rfc/rfc7515#section-4), [RFC 8725
//! §2.4](https://www.rfc-editor.org/rfc/rfc8725#section-2.4)).

mod strict;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny};
use serde_json::Value;

use self::strict::Strict;

/// Parses one JSON object without repeated members at any depth.
pub(crate) fn object<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, serde_json::Error> {
    // derived structs also deserialize from arrays
    if text.trim_ascii_start().first() != Some(&b'{') {
        return Err(Error::custom("not an object"));
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    let object = T::deserialize(Strict(&mut reader))?;
    reader.end()?;
    Ok(object)
}

/// For members whose presence alone matters, `null` included.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// For a boolean that some issuers write as text; other values than `true` and `false` count as
/// absent.
pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_bool())
}

/// For a member that counts as present even as `null`.
pub(crate) fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O15, 72: a repeated member is refused, in any spelling and at any depth.
    #[test]
    fn a_repeated_member_is_refused() {
        let refused = [
            r#"{"a":1,"a":2}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"x":{"a":1,"b":2,"a":3}}"#,
            r#"{"x":[0,{"a":null,"a":null}]}"#,
            r#"{"":1,"":2}"#,
            r#"{"x":[[{"a":[],"b":{},"a":[]}]]}"#,
        ];
        for text in refused {
            assert!(object::<Value>(text.as_bytes()).is_err(), "{text}");
        }
        assert!(object::<Value>(br#"{"a":{"a":1},"b":[{"a":1.5},{"a":-1}],"c":true,"A":null}"#).is_ok());
    }

    /// O15, 72: a repeated member is refused also in parts that are not read.
    #[test]
    fn a_repeated_member_is_refused_where_nothing_is_read() {
        #[derive(Debug, serde::Deserialize)]
        struct Inner {
            #[serde(rename = "n")]
            _n: Option<u8>,
        }
        #[derive(Debug, serde::Deserialize)]
        struct Outer {
            #[serde(rename = "list", default)]
            _list: Vec<Inner>,
            #[serde(rename = "inner", default)]
            _inner: Option<Inner>,
            #[serde(rename = "there", default, deserialize_with = "present")]
            _there: bool,
        }
        let refused = [
            r#"{"list":[],"list":[]}"#,
            r#"{"unknown":1,"unknown":1}"#,
            r#"{"unknown":{"a":1,"a":1}}"#,
            r#"{"unknown":[{"a":1,"a":1}]}"#,
            r#"{"there":{"a":1,"a":1}}"#,
            r#"{"there":null,"th\u0065re":null}"#,
            r#"{"inner":{"n":1,"n":1}}"#,
            r#"{"inner":{"x":1,"x":1}}"#,
            r#"{"list":[{"n":1},{"x":{"y":1,"y":1}}]}"#,
        ];
        for text in refused {
            assert!(object::<Outer>(text.as_bytes()).is_err(), "{text}");
        }
        let proper = r#"{"list":[{"n":1,"x":{"n":1}},{"n":null}],"inner":{"n":1},"there":[1],"n":1.5}"#;
        assert!(object::<Outer>(proper.as_bytes()).is_ok());
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
