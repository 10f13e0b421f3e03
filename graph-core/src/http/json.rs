//! Checks of JSON that serde does not make.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

/// JSON object. A derived struct also accepts an array.
pub(crate) struct JsonObject<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfObject<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfObject<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members))
            }
        }

        deserializer.deserialize_map(OfObject(PhantomData)).map(Self)
    }
}

/// Number of values in valid JSON: scalars, arrays and objects, without names of members.
pub(super) fn values(json: &str) -> usize {
    let (mut values, mut in_scalar) = (0_usize, false);
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        let starts = match byte {
            b'"' => {
                skip_string(&mut bytes);
                true
            }
            b'[' | b'{' => true,
            // the string before it was a name
            b':' => {
                values = values.saturating_sub(1);
                false
            }
            b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t' => false,
            // a number, `true`, `false` or `null`
            _ => {
                values += usize::from(!in_scalar);
                in_scalar = true;
                continue;
            }
        };
        in_scalar = false;
        values += usize::from(starts);
    }
    values
}

/// Skips the rest of a string with its closing quote.
fn skip_string(bytes: &mut std::str::Bytes<'_>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use juniper::{InputValue, Variables};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_counted_without_names() {
        for (json, expected) in [
            ("{}", 1),
            (r#"{"a":1}"#, 2),
            (r#"{"a": [1, 2.5e3, null, true], "b:[,": "x\",\\"}"#, 7),
            ("[[],[[]]]", 4),
            ("null", 1),
        ] {
            assert_eq!(values(json), expected, "{json}");
        }
    }

    #[test]
    fn arrays_are_no_objects() {
        #[derive(Deserialize)]
        struct One {
            #[expect(dead_code, reason = "only parsed")]
            a: Option<i32>,
        }
        assert!(serde_json::from_str::<JsonObject<One>>(r#"{"a":1}"#).is_ok());
        assert!(serde_json::from_str::<JsonObject<One>>("[1]").is_err());
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i32>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
                prop::collection::hash_map(".*", inner, 0..5)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// G22: the count of the text is that of the decoded value.
        #[test]
        fn count_of_text_is_that_of_value(value in json()) {
            fn count(value: &InputValue) -> usize {
                1 + match value {
                    InputValue::List(values) => values.iter().map(|value| count(&value.item)).sum(),
                    InputValue::Object(fields) => fields.iter().map(|(_, value)| count(&value.item)).sum(),
                    _ => 0,
                }
            }
            let text = serde_json::to_string_pretty(&serde_json::json!({ "v": value })).unwrap();
            let variables: Variables = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(values(&text), 1 + count(&variables["v"]));
        }
    }
}
