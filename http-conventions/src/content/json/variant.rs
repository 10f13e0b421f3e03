//! Variant of an enum: a string, or an object with one member.

use std::marker::PhantomData;

use serde::{
    Deserializer,
    de::{DeserializeSeed, EnumAccess, VariantAccess, Visitor, value::BorrowedStrDeserializer},
};
use serde_json::Value;

use super::{node::Node, path::Path, stand_in::StandIn, stop::Stop};

/// Name and content of a variant.
pub(super) struct Variant<'de, 'n> {
    name: &'de str,
    content: Content<'de, 'n>,
}

/// Content of a variant.
pub(super) enum Content<'de, 'n> {
    /// The value is a string, so there is no content.
    None(Node<'de, 'n>),
    /// Object that contains the variant, and its one member.
    Member(Node<'de, 'n>, &'de str, &'de Value),
    StandIn(StandIn<'n>),
}

impl<'de, 'n> Variant<'de, 'n> {
    /// Variant in this value; `None` if the value cannot be a variant.
    pub(super) fn of(node: Node<'de, 'n>) -> Option<Self> {
        match node.value {
            Value::String(name) => Some(Self {
                name,
                content: Content::None(node),
            }),
            Value::Object(members) if members.len() == 1 => members.iter().next().map(|(name, value)| Self {
                name,
                content: Content::Member(node, name, value),
            }),
            _ => None,
        }
    }

    pub(super) const fn stand_in(name: &'static str, stand_in: StandIn<'n>) -> Self {
        Self {
            name,
            content: Content::StandIn(stand_in),
        }
    }
}

impl<'de, 'n> EnumAccess<'de> for Variant<'de, 'n> {
    type Error = Stop;
    type Variant = Content<'de, 'n>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), Stop> {
        let variant = seed.deserialize(BorrowedStrDeserializer::new(self.name));
        let variant = variant.map_err(|stop: Stop| match &self.content {
            Content::None(node) | Content::Member(node, ..) => stop.at(|_| node.own_place()),
            Content::StandIn(_) => stop,
        })?;
        Ok((variant, self.content))
    }
}

/// Calls `$read` with the deserializer of the content.
macro_rules! content {
    ($content:expr, $source:ident => $read:expr) => {
        match $content {
            Content::None(node) => {
                let $source = node.wrong_type("an object with this name and its content")?;
                $read
            }
            Content::Member(node, name, value) => {
                node.run.take_work(1)?;
                let path = Path::Member(&node.path, name);
                let $source = Node {
                    value,
                    path,
                    run: node.run,
                };
                $read
            }
            Content::StandIn($source) => $read,
        }
    };
}

impl<'de> VariantAccess<'de> for Content<'de, '_> {
    type Error = Stop;

    fn unit_variant(self) -> Result<(), Stop> {
        match self {
            Self::None(_) => Ok(()),
            content => content!(content, source => source.read(PhantomData)),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Stop> {
        content!(self, source => source.read(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Stop> {
        content!(self, source => source.deserialize_tuple(length, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        content!(self, source => source.deserialize_struct("", fields, visitor))
    }
}
