//! Global ids: type name and key in one opaque string.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use juniper::macros::reflect::{self, BaseSubTypes, BaseType, WrappedType};
use juniper::marker::{IsInputType, IsOutputType};
use juniper::meta::MetaType;
use juniper::{
    ArcStr, FieldError, FromInputValue, GraphQLType, GraphQLValue, ID, InputValue, Registry, ScalarValue,
    ToInputValue,
};

use super::Refetchable;
use crate::error::GraphError;
use crate::executor::{self, Execution, Field, Object, Output, Path, WriteResult, write};

/// Pads as graphql-relay does, and accepts ids without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Global id of an object of the type `T`.
///
/// - As a field it is the `ID!` of the object.
/// - As an argument or a field of an input object it accepts the ids of `T` only. Any other id is
///   `BAD_USER_INPUT`.
/// - `Display` and `FromStr` convert from and to the encoded form.
///
/// The encoding, and the reasons why an id is no authorization, are described in
/// [the module](crate::node).
pub struct GlobalId<T: Refetchable> {
    key: T::Key,
    of: PhantomData<fn() -> T>,
}

impl<T: Refetchable> GlobalId<T> {
    /// Creates the id of the object with this key.
    #[must_use]
    pub fn new(key: T::Key) -> Self {
        Self { key, of: PhantomData }
    }

    /// Returns the key of the object.
    #[must_use]
    pub fn key(&self) -> &T::Key {
        &self.key
    }

    /// Converts the id to the key of the object.
    #[must_use]
    pub fn into_key(self) -> T::Key {
        self.key
    }

    /// GraphQL name of the type.
    fn type_name() -> &'static str {
        <T as Object<T::Context>>::INFO.name
    }
}

impl<T: Refetchable> Clone for GlobalId<T> {
    fn clone(&self) -> Self {
        Self::new(self.key.clone())
    }
}

impl<T: Refetchable> PartialEq for GlobalId<T>
where
    T::Key: PartialEq,
{
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T: Refetchable> Eq for GlobalId<T> where T::Key: Eq {}

impl<T: Refetchable> fmt::Debug for GlobalId<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GlobalId({}:{})", Self::type_name(), self.key)
    }
}

impl<T: Refetchable> Display for GlobalId<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64.encode(format!("{}:{}", Self::type_name(), self.key)))
    }
}

impl<T: Refetchable> FromStr for GlobalId<T> {
    type Err = InvalidGlobalId;

    fn from_str(id: &str) -> Result<Self, InvalidGlobalId> {
        let Untyped { name, key } = Untyped::parse(id)?;
        if name != Self::type_name() {
            return Err(InvalidGlobalId);
        }
        key.parse().map(Self::new).map_err(|_| InvalidGlobalId)
    }
}

impl<T: Refetchable> From<GlobalId<T>> for ID {
    fn from(id: GlobalId<T>) -> Self {
        Self::new(id.to_string())
    }
}

/// Error of a string that is not a global id of the expected type.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a global id of the expected type")]
pub struct InvalidGlobalId;

/// Type name and key of a global id.
pub(super) struct Untyped {
    pub(super) name: String,
    pub(super) key: String,
}

impl Untyped {
    pub(super) fn parse(id: &str) -> Result<Self, InvalidGlobalId> {
        let standard = |character| match character {
            '-' => '+',
            '_' => '/',
            character => character,
        };
        let standard: String = id.chars().map(standard).collect();
        let decoded = BASE64.decode(standard).map_err(|_| InvalidGlobalId)?;
        let decoded = String::from_utf8(decoded).map_err(|_| InvalidGlobalId)?;
        // a type name has no colon, a key may have some
        let (name, key) = decoded.split_once(':').ok_or(InvalidGlobalId)?;
        Ok(Self {
            name: name.to_owned(),
            key: key.to_owned(),
        })
    }
}

/// Error of a global id that an argument cannot have; quotes at most 64 characters of it.
pub(super) fn refused(id: &str) -> GraphError {
    const QUOTED: usize = 64;
    let (mut quoted, rest) = match id.char_indices().nth(QUOTED) {
        Some((end, _)) => (id.get(..end).unwrap_or_default().to_owned(), true),
        None => (id.to_owned(), false),
    };
    if rest {
        quoted.push('…');
    }
    GraphError::bad_user_input(format!("`{quoted}` is not a global id of this graph"))
}

/// Parses the key of an id; used by generated code.
///
/// # Errors
///
/// `BAD_USER_INPUT` if the type has no such key.
pub fn parse_key<K: FromStr>(key: &str) -> Result<K, GraphError> {
    key.parse().map_err(|_| {
        let message = "the key in the global id is malformed";
        GraphError::bad_user_input(message)
    })
}

impl<S: ScalarValue, T: Refetchable> FromInputValue<S> for GlobalId<T> {
    type Error = FieldError<S>;

    fn from_input_value(value: &InputValue<S>) -> Result<Self, FieldError<S>> {
        let id = ID::from_input_value(value).ok();
        id.and_then(|id| id.parse().ok()).ok_or_else(|| {
            let name = Self::type_name();
            format!("expected the global id of a `{name}`").into()
        })
    }
}

impl<S: ScalarValue, T: Refetchable> ToInputValue<S> for GlobalId<T> {
    fn to_input_value(&self) -> InputValue<S> {
        InputValue::scalar(self.to_string())
    }
}

impl<S: ScalarValue, T: Refetchable> IsInputType<S> for GlobalId<T> {}

impl<S: ScalarValue, T: Refetchable> IsOutputType<S> for GlobalId<T> {}

impl<S: ScalarValue, T: Refetchable> GraphQLValue<S> for GlobalId<T> {
    type Context = ();
    type TypeInfo = ();

    fn type_name(&self, info: &()) -> Option<ArcStr> {
        <ID as GraphQLType<S>>::name(info)
    }
}

impl<S: ScalarValue, T: Refetchable> GraphQLType<S> for GlobalId<T> {
    fn name(info: &()) -> Option<ArcStr> {
        <ID as GraphQLType<S>>::name(info)
    }

    fn meta(info: &(), registry: &mut Registry<S>) -> MetaType<S> {
        <ID as GraphQLType<S>>::meta(info, registry)
    }
}

// juniper's derive of an input object asks for these

impl<S: ScalarValue, T: Refetchable> BaseType<S> for GlobalId<T> {
    const NAME: reflect::Type = <ID as BaseType<S>>::NAME;
}

impl<S: ScalarValue, T: Refetchable> BaseSubTypes<S> for GlobalId<T> {
    const NAMES: reflect::Types = <ID as BaseSubTypes<S>>::NAMES;
}

impl<S: ScalarValue, T: Refetchable> WrappedType<S> for GlobalId<T> {
    const VALUE: reflect::WrappedValue = <ID as WrappedType<S>>::VALUE;
}

impl<C, T: Refetchable> Output<C> for GlobalId<T> {
    type Anchor = ();

    fn register(_: &mut executor::Registry) {}

    fn write(&self, _: &Field, _: &Execution<'_, C>, _: &Path<'_>, out: &mut Vec<u8>) -> WriteResult {
        write::string(&self.to_string(), out);
        Ok(())
    }
}
