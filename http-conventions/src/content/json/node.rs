//! Deserializer of one value. It records a value of the wrong type and continues with a stand-in.

use serde::{
    Deserializer,
    de::{DeserializeSeed, Visitor},
};
use serde_json::{Number, Value};

use super::{
    collect::{Repair, Run},
    fault::Fault,
    members::{Items, Members},
    path::{Path, push_token},
    search::{Search, has_trace},
    stand_in::StandIn,
    stop::{About, Cause, Place, Stop, Trace},
    variant::Variant,
};

/// Magnitude from which a float is reported as out of range, instead of as a fraction.
const BEYOND_INTEGERS: f64 = 9_223_372_036_854_775_808.0;

/// A value of the content and its location.
#[derive(Clone, Copy)]
pub(super) struct Node<'de, 'r> {
    pub(super) value: &'de Value,
    pub(super) path: Path<'r>,
    pub(super) run: &'r Run<'r>,
}

/// Address of a value, which identifies it in its document.
pub(super) fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

impl<'de, 'r> Node<'de, 'r> {
    /// Reads the value. An error without a location gets the location of the value.
    pub(super) fn read<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Stop> {
        self.placed(seed.deserialize(self))
    }

    /// Stand-in for the value, if an earlier run found it faulty.
    fn stand_in(self) -> Option<StandIn<'r>> {
        match self.run.repair(self.value) {
            Some(Repair::StandIn(attempt)) => Some(StandIn::new(attempt, self.run)),
            Some(Repair::Omit) | None => None,
        }
    }

    /// Records a fault of this value, and returns the stand-in to continue with.
    fn fault(self, code: &'static str, detail: impl FnOnce() -> String) -> Result<StandIn<'r>, Stop> {
        self.run
            .record(self.path.pointer(), |pointer| Fault::new(pointer, code, detail()))?;
        Ok(StandIn::new(0, self.run))
    }

    pub(super) fn wrong_type(self, expected: &str) -> Result<StandIn<'r>, Stop> {
        let found = found(self.value);
        self.fault("wrong-type", || format!("expected {expected}, found {found}"))
    }

    /// Adds the location to an error without one. The first run needs no locations.
    fn placed<T>(self, result: Result<T, Stop>) -> Result<T, Stop> {
        if self.run.is_first() {
            return result;
        }
        result.map_err(|stop| stop.at(|stop| self.place(stop)))
    }

    /// Location of this value.
    pub(super) fn own_place(self) -> Place {
        Place {
            pointer: self.path.pointer(),
            address: address(self.value),
            about: About::Value,
        }
    }

    fn place(self, stop: &Stop) -> Place {
        // the error is about the stand-in
        if self.stand_in().is_some() {
            return self.own_place();
        }
        let mut pointer = self.path.pointer();
        if let Cause::Missing(name) = stop.cause() {
            push_token(&mut pointer, name);
        }
        let own = Place {
            pointer,
            ..self.own_place()
        };
        let Some(trace) = stop.trace() else {
            return own;
        };
        if has_trace(self.value, trace) || self.run.is_of_stand_in(&own.pointer, trace) {
            return own;
        }
        // the error may be about a stand-in: only text has an address of its own
        let is_known = matches!(trace, Trace::Text(_, 1..)) || matches!(stop.cause(), Cause::Kind(_));
        if !is_known && self.run.has_fault_within(&own.pointer) {
            return own;
        }
        // serde buffers the members of flattened structs and of some enums, so that the error
        // arrives here and names no member
        let mut search = Search::new(self.run, trace);
        search.below(self.value, &Path::Root);
        match search.found() {
            Some((below, value)) => Place {
                pointer: own.pointer + &below,
                address: address(value),
                about: About::Value,
            },
            None => Place {
                about: About::Inside,
                ..own
            },
        }
    }

    fn integer<V: Visitor<'de>>(self, (min, max): (i128, i128), visitor: V) -> Result<V::Value, Stop> {
        let stand_in = match (self.stand_in(), self.value) {
            (Some(stand_in), _) => stand_in,
            (None, Value::Number(number)) => match whole(number) {
                Some(value) if (min..=max).contains(&value) => {
                    return self.placed(visit_number(number, visitor));
                }
                None if number.as_f64().is_some_and(|value| value.abs() < BEYOND_INTEGERS) => {
                    self.wrong_type("an integer")?
                }
                _ => self.fault("out-of-range", || {
                    format!("must be an integer from {min} to {max}")
                })?,
            },
            (None, _) => self.wrong_type("an integer")?,
        };
        self.placed(stand_in.deserialize_u64(visitor))
    }

    fn items<V: Visitor<'de>>(
        self,
        items: &'de [Value],
        is_uniform: bool,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let mut access = Items::new(self, items, is_uniform);
        let visited = self.placed(visitor.visit_seq(&mut access))?;
        if access.has_unread() {
            let length = items.len();
            self.fault("wrong-length", || {
                format!("a length of {length} is not accepted here")
            })?;
        }
        Ok(visited)
    }

    fn members<V: Visitor<'de>>(
        self,
        members: &'de serde_json::Map<String, Value>,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let mut access = Members::new(self, members);
        let visited = visitor.visit_map(&mut access);
        let visited = visited.map_err(|stop| match stop.cause() {
            // both names were read: the error is about the later one
            Cause::Repeated => stop.at(|_| access.last_place()),
            _ => stop,
        });
        self.placed(visited)
    }
}

fn whole(number: &Number) -> Option<i128> {
    let signed = number.as_i64().map(i128::from);
    signed.or_else(|| number.as_u64().map(i128::from))
}

pub(super) fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, Stop> {
    match (number.as_u64(), number.as_i64()) {
        (Some(value), _) => visitor.visit_u64(value),
        (None, Some(value)) => visitor.visit_i64(value),
        (None, None) => match number.as_f64() {
            Some(value) => visitor.visit_f64(value),
            // a feature of serde_json reads numbers of any size
            None => Err(Stop::new(Cause::TooLarge)),
        },
    }
}

/// Kind of a value in a fault.
fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if whole(number).is_some() => "an integer",
        Value::Number(_) => "a number with a fraction",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

macro_rules! integers {
    ($($method:ident: $type:ty),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
            self.integer((<$type>::MIN.into(), <$type>::MAX.into()), visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Node<'de, '_> {
    type Error = Stop;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        if let Some(stand_in) = self.stand_in() {
            return self.placed(stand_in.deserialize_any(visitor));
        }
        match self.value {
            Value::Null => self.placed(visitor.visit_unit()),
            Value::Bool(value) => self.placed(visitor.visit_bool(*value)),
            Value::Number(number) => self.placed(visit_number(number, visitor)),
            Value::String(text) => self.placed(visitor.visit_borrowed_str(text)),
            Value::Array(items) => self.items(items, false, visitor),
            Value::Object(members) => self.members(members, visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let stand_in = match (self.stand_in(), self.value) {
            (Some(stand_in), _) => stand_in,
            (None, Value::Bool(value)) => return self.placed(visitor.visit_bool(*value)),
            (None, _) => self.wrong_type("a boolean")?,
        };
        self.placed(stand_in.deserialize_bool(visitor))
    }

    integers! {
        deserialize_i8: i8, deserialize_i16: i16, deserialize_i32: i32, deserialize_i64: i64,
        deserialize_u8: u8, deserialize_u16: u16, deserialize_u32: u32, deserialize_u64: u64
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.integer((i64::MIN.into(), u64::MAX.into()), visitor)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let stand_in = match (self.stand_in(), self.value) {
            (Some(stand_in), _) => stand_in,
            (None, Value::Number(number)) => return self.placed(visit_number(number, visitor)),
            (None, _) => self.wrong_type("a number")?,
        };
        self.placed(stand_in.deserialize_f64(visitor))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let stand_in = match (self.stand_in(), self.value) {
            (Some(stand_in), _) => stand_in,
            (None, Value::String(text)) if text.chars().nth(1).is_none() && !text.is_empty() => {
                return self.placed(visitor.visit_borrowed_str(text));
            }
            (None, Value::String(_)) => self.fault("wrong-length", || "must be one character".to_owned())?,
            (None, _) => self.wrong_type("a string")?,
        };
        self.placed(stand_in.deserialize_char(visitor))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let stand_in = match (self.stand_in(), self.value) {
            (Some(stand_in), _) => stand_in,
            (None, Value::String(text)) => return self.placed(visitor.visit_borrowed_str(text)),
            (None, _) => self.wrong_type("a string")?,
        };
        self.placed(stand_in.deserialize_str(visitor))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_str(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let stand_in = match (self.stand_in(), self.value) {
            (Some(stand_in), _) => stand_in,
            (None, Value::String(text)) => return self.placed(visitor.visit_borrowed_str(text)),
            (None, Value::Array(items)) => return self.items(items, true, visitor),
            (None, _) => self.wrong_type("a string or an array of integers")?,
        };
        self.placed(stand_in.deserialize_str(visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.value {
            Value::Null => self.placed(visitor.visit_none()),
            _ => self.placed(visitor.visit_some(self)),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        if self.stand_in().is_none() && !self.value.is_null() {
            self.wrong_type("null")?;
        }
        self.placed(visitor.visit_unit())
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.placed(visitor.visit_newtype_struct(self))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let stand_in = match (self.stand_in(), self.value) {
            (Some(stand_in), _) => stand_in,
            (None, Value::Array(items)) => return self.items(items, true, visitor),
            (None, _) => self.wrong_type("an array")?,
        };
        self.placed(stand_in.deserialize_seq(visitor))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Stop> {
        let stand_in = match (self.stand_in(), self.value) {
            (Some(stand_in), _) => stand_in,
            (None, Value::Array(items)) => return self.items(items, false, visitor),
            (None, _) => self.wrong_type("an array")?,
        };
        self.placed(stand_in.deserialize_tuple(length, visitor))
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
        let stand_in = match (self.stand_in(), self.value) {
            (Some(stand_in), _) => stand_in,
            (None, Value::Object(members)) => return self.members(members, visitor),
            (None, _) => self.wrong_type("an object")?,
        };
        self.placed(stand_in.deserialize_map(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let stand_in = match (self.stand_in(), self.value) {
            (Some(stand_in), _) => stand_in,
            (None, Value::Object(members)) => return self.members(members, visitor),
            (None, _) => self.wrong_type("an object")?,
        };
        self.placed(stand_in.deserialize_struct(name, fields, visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let stand_in = match (self.stand_in(), Variant::of(self)) {
            (Some(stand_in), _) => stand_in,
            (None, Some(variant)) => return self.placed(visitor.visit_enum(variant)),
            (None, None) if matches!(self.value, Value::Object(_)) => {
                let detail = || "must be a string, or an object with exactly one member".to_owned();
                self.fault("wrong-length", detail)?
            }
            (None, None) => self.wrong_type("a string, or an object with one member")?,
        };
        self.placed(stand_in.deserialize_enum(name, variants, visitor))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_unit()
    }
}
