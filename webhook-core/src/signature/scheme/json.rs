//! Reads one string or integer of a JSON text by its JSON pointer, without building a tree.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Text of the string or integer at `pointer` (RFC 6901). `None` if `body` is not JSON, has no such
/// value there, or repeats a member of the path.
pub(crate) fn text_at<'b>(body: &'b [u8], pointer: &'static str) -> Option<Cow<'b, str>> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let found = Seek(pointer).deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    match found {
        Found::Text(text) => Some(text),
        Found::Nothing | Found::Repeated => None,
    }
}

enum Found<'b> {
    Nothing,
    Text(Cow<'b, str>),
    Repeated,
}

/// Rest of a JSON pointer.
#[derive(Clone, Copy)]
struct Seek(&'static str);

impl Seek {
    /// The next token and the rest; `None` at the end of the pointer.
    fn split(self) -> Option<(&'static str, Self)> {
        let rest = self.0.strip_prefix('/')?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (token, rest) = rest.split_at(end);
        Some((token, Self(rest)))
    }
}

impl<'b> DeserializeSeed<'b> for Seek {
    type Value = Found<'b>;

    fn deserialize<D: Deserializer<'b>>(self, deserializer: D) -> Result<Found<'b>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'b> Visitor<'b> for Seek {
    type Value = Found<'b>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<Found<'b>, A::Error> {
        let next = self.split();
        let mut found = Found::Nothing;
        while let Some(name) = map.next_key::<Cow<'b, str>>()? {
            match next {
                Some((token, rest)) if name == token => {
                    found = match found {
                        Found::Nothing => map.next_value_seed(rest)?,
                        Found::Text(_) | Found::Repeated => {
                            map.next_value::<IgnoredAny>()?;
                            Found::Repeated
                        }
                    };
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'b>>(self, mut items: A) -> Result<Found<'b>, A::Error> {
        let next = self.split();
        let (mut found, mut index) = (Found::Nothing, 0_usize);
        loop {
            match next {
                Some((token, rest)) if token.parse() == Ok(index) => match items.next_element_seed(rest)? {
                    Some(item) => found = item,
                    None => return Ok(found),
                },
                _ if items.next_element::<IgnoredAny>()?.is_none() => return Ok(found),
                _ => {}
            }
            index += 1;
        }
    }

    fn visit_borrowed_str<E>(self, text: &'b str) -> Result<Found<'b>, E> {
        Ok(self.leaf(|| Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Found<'b>, E> {
        Ok(self.leaf(|| Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Found<'b>, E> {
        Ok(self.leaf(|| Cow::Owned(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Found<'b>, E> {
        Ok(self.leaf(|| Cow::Owned(number.to_string())))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Found<'b>, E> {
        Ok(Found::Nothing)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Found<'b>, E> {
        Ok(Found::Nothing)
    }

    fn visit_unit<E>(self) -> Result<Found<'b>, E> {
        Ok(Found::Nothing)
    }
}

impl Seek {
    fn leaf<'b>(self, text: impl FnOnce() -> Cow<'b, str>) -> Found<'b> {
        if self.0.is_empty() {
            Found::Text(text())
        } else {
            Found::Nothing
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W20: a pointer finds strings and integers; a repeated member finds nothing, because two
    /// parsers could disagree on its value.
    #[test]
    fn pointer_finds_one_string_or_integer() {
        let body = br#"{"a":{"b":["x",{"c":"y\u0021"},3]},"n":-4,"t":true,"f":1.5,"d":1,"d":2}"#;
        for (pointer, expected) in [
            ("/a/b/0", Some("x")),
            ("/a/b/1/c", Some("y!")),
            ("/a/b/2", Some("3")),
            ("/n", Some("-4")),
            ("/a/b/3", None),
            ("/a/b", None),
            ("/a/b/0/x", None),
            ("/t", None),
            ("/f", None),
            ("/d", None),
            ("/missing", None),
        ] {
            assert_eq!(text_at(body, pointer).as_deref(), expected, "{pointer}");
        }
        for body in [&b"{\"a\":1} x"[..], b"", b"{", b"\xff"] {
            assert_eq!(text_at(body, "/a"), None);
        }
    }
}
