//! Parser of [GraphQL documents](https://spec.graphql.org/September2025/#sec-Document-Syntax).
//!
//! One pass over the bytes of the text builds an [`Ast`]. The grammar is that of the September 2025
//! specification, and the messages and positions of errors are those of graphql-js. Definitions of
//! the type system are parsed too, because a document with such a definition is a document that
//! fails validation.
//!
//! - `lexer`, `strings`: tokens · `cursor`: reading of tokens
//! - `executable`, `value`, `type_system`: the grammar · `ast`: the nodes
//! - `print`: values as text · `lines`: positions as lines and columns

mod ast;
mod cursor;
mod executable;
mod lexer;
mod lines;
mod print;
mod strings;
mod type_system;
mod value;

pub(crate) use self::ast::{
    Argument, Ast, Definition, Directive, Field, Fragment, Inline, List, Name, ObjectField, Operation,
    Selection, Spread, TypeNode, Value, ValueKind, VariableDefinition,
};
use self::cursor::Cursor;
pub(crate) use self::lines::Lines;

/// Limits of one document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParseLimits {
    pub(crate) tokens: usize,
    /// Nesting of selection sets, of values, and of list types.
    pub(crate) depth: usize,
}

/// Reason why a text is not a document.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct SyntaxError {
    pub(crate) message: String,
    /// Byte offset in the text.
    pub(crate) at: u32,
    /// `true` if the text nests deeper than [`ParseLimits::depth`].
    pub(crate) is_too_deep: bool,
}

impl SyntaxError {
    fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            // longer texts are refused before
            at: u32::try_from(at).unwrap_or(u32::MAX),
            is_too_deep: false,
        }
    }
}

/// Parses `text`.
pub(crate) fn parse(text: &str, limits: ParseLimits) -> Result<Ast<'_>, SyntaxError> {
    Cursor::new(text, limits)?.document()
}

/// Parses `text` as one value without variables, for example a default value of introspection.
#[cfg(test)]
pub(crate) fn parse_value(text: &str) -> Result<(Ast<'_>, Value<'_>), SyntaxError> {
    let limits = ParseLimits {
        tokens: usize::MAX,
        depth: 64,
    };
    Cursor::new(text, limits)?.only_value()
}
