//! Values of extension members.

use std::borrow::Cow;

/// A JSON value of an extension member.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has no further kinds of values")]
pub enum Member {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without a fraction, in the range of `i64`.
    Integer(i64),
    /// Any other number. Infinity and NaN are written as `null`.
    Number(f64),
    /// A string.
    Text(Cow<'static, str>),
    /// An array.
    List(Vec<Self>),
    /// An object. The members keep their order.
    Object(Vec<(Cow<'static, str>, Self)>),
}

impl Member {
    /// String of [`Member::Text`]; `None` for other kinds.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Integer of [`Member::Integer`]; `None` for other kinds.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(integer) => Some(*integer),
            _ => None,
        }
    }

    /// Boolean of [`Member::Bool`]; `None` for other kinds.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }
}

impl From<bool> for Member {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i32> for Member {
    fn from(value: i32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<u32> for Member {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<i64> for Member {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&'static str> for Member {
    fn from(value: &'static str) -> Self {
        Self::Text(Cow::Borrowed(value))
    }
}

impl From<String> for Member {
    fn from(value: String) -> Self {
        Self::Text(Cow::Owned(value))
    }
}

impl<T: Into<Self>> From<Vec<T>> for Member {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}
