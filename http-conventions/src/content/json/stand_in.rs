//! Stand-ins for faulty values, so that a run continues after such a value. They are never part of
//! a result.

use serde::{
    Deserializer,
    de::{
        DeserializeSeed, IntoDeserializer, Visitor,
        value::{MapDeserializer, SeqDeserializer},
    },
};

use super::{
    collect::Run,
    stop::{Cause, Stop, Trace},
    variant::Variant,
};

/// Number of stand-ins that are tried for one value.
pub(super) const ATTEMPTS: usize = 12;

/// Maximum depth of a stand-in; types can be recursive.
const DEEPEST: usize = 8;

const INTEGERS: [u64; 4] = [1, 0, 10, 100];

/// Number for a type that takes any value. It fits each integer type, and is no index of a variant:
/// a tag must not select a variant that the client did not name.
const UNTYPED_NUMBER: u64 = 100;

/// Text for a type that takes any value. It is not empty, so that it has an address of its own.
const UNTYPED_TEXT: &str = "-";

/// Texts that types commonly accept.
const TEXTS: [&str; 11] = [
    "",
    "a",
    "1",
    "AAA",
    "2000-01-01T00:00:00Z",
    "2000-01-01",
    "00000000-0000-4000-8000-000000000000",
    "https://a.example/",
    "a@a.example",
    "0.0.0.0",
    "aaa",
];

/// An invented value that deserializes as the requested type.
#[derive(Clone, Copy)]
pub(super) struct StandIn<'r> {
    attempt: usize,
    depth: usize,
    run: &'r Run<'r>,
}

impl<'r> StandIn<'r> {
    pub(super) const fn new(attempt: usize, run: &'r Run<'r>) -> Self {
        Self {
            attempt,
            depth: 0,
            run,
        }
    }

    pub(super) fn read<'de, S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Stop> {
        seed.deserialize(self)
    }

    /// Stand-in inside of this one.
    fn inner(self) -> Result<Self, Stop> {
        self.run.take_work(1)?;
        match self.depth < DEEPEST {
            true => Ok(Self {
                depth: self.depth + 1,
                ..self
            }),
            false => Err(Stop::new(Cause::Invalid(String::new()))),
        }
    }

    fn integer(self) -> u64 {
        choose(&INTEGERS, self.attempt).copied().unwrap_or_default()
    }

    fn text(self) -> &'static str {
        choose(&TEXTS, self.attempt).copied().unwrap_or_default()
    }
}

/// Trace of a stand-in for a type that takes any value; `None` for a text, which has an address of
/// its own.
pub(super) const fn untyped_trace(attempt: usize) -> Option<Trace> {
    match attempt {
        0 | 10.. => Some(Trace::Null),
        2 => Some(Trace::Unsigned(UNTYPED_NUMBER)),
        3 => Some(Trace::Bool(false)),
        4 => Some(Trace::Object),
        5 => Some(Trace::Array),
        _ => None,
    }
}

fn choose<T>(all: &[T], attempt: usize) -> Option<&T> {
    all.get(attempt.checked_rem(all.len())?)
}

impl<'de> IntoDeserializer<'de, Stop> for StandIn<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
            visitor.visit_u64(self.integer())
        }
    )*};
}

macro_rules! texts {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
            visitor.visit_borrowed_str(self.text())
        }
    )*};
}

impl<'de> Deserializer<'de> for StandIn<'_> {
    type Error = Stop;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        // as in `untyped_trace`
        match self.attempt {
            1 => visitor.visit_borrowed_str(UNTYPED_TEXT),
            2 => visitor.visit_u64(UNTYPED_NUMBER),
            3 => visitor.visit_bool(false),
            4 => self.deserialize_map(visitor),
            5 => self.deserialize_tuple(0, visitor),
            6..=9 => visitor.visit_borrowed_str(self.text()),
            _ => visitor.visit_unit(),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_bool(self.attempt % 2 == 1)
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    texts! {
        deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_identifier
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_char('a')
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.attempt {
            0 => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        visitor.visit_newtype_struct(self)
    }

    /// An empty array, or one with an item.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_tuple(self.attempt % 2, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Stop> {
        let item = self.inner()?;
        visitor.visit_seq(SeqDeserializer::new(std::iter::repeat_n(item, length)))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let member = self.inner()?;
        self.run.take_work(fields.len())?;
        visitor.visit_map(MapDeserializer::new(fields.iter().map(|name| (*name, member))))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let content = self.inner()?;
        let name = choose(variants, self.attempt).copied().unwrap_or_default();
        visitor.visit_enum(Variant::stand_in(name, content))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_unit()
    }
}
