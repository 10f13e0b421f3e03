//! Deserializer of the name of a member: a string, or a number or boolean in a string, as in
//! `HashMap<u32, _>`.

use serde::{
    Deserializer,
    de::{Visitor, value::BorrowedStrDeserializer},
    forward_to_deserialize_any,
};
use serde_json::Number;

use super::{
    node::visit_number,
    stop::{Cause, Stop},
};

/// Name of a member.
pub(super) struct Key<'de>(pub(super) &'de str);

impl<'de> Key<'de> {
    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let is_compact = !self.0.contains(|character: char| character.is_ascii_whitespace());
        match serde_json::from_str::<Number>(self.0) {
            Ok(number) if is_compact => visit_number(&number, visitor),
            _ => Err(Stop::new(Cause::Kind("a name that is not a number"))),
        }
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
            self.number(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Stop;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(Stop::new(Cause::Kind("a name that is not a boolean"))),
        }
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}
