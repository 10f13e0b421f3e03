//! Definitions and extensions of the type system
//! ([Type System](https://spec.graphql.org/September2025/#sec-Type-System)). Only their syntax is
//! checked: a request with such a definition is refused by validation.

use super::SyntaxError;
use super::ast::Definition;
use super::cursor::{Cursor, Parsed};
use super::lexer::Kind;
use super::value::Variables;

/// Locations of directives ([DirectiveLocation][spec]).
///
/// [spec]: https://spec.graphql.org/September2025/#DirectiveLocation
const LOCATIONS: [&str; 19] = [
    "QUERY",
    "MUTATION",
    "SUBSCRIPTION",
    "FIELD",
    "FRAGMENT_DEFINITION",
    "FRAGMENT_SPREAD",
    "INLINE_FRAGMENT",
    "VARIABLE_DEFINITION",
    "SCHEMA",
    "SCALAR",
    "OBJECT",
    "FIELD_DEFINITION",
    "ARGUMENT_DEFINITION",
    "INTERFACE",
    "UNION",
    "ENUM",
    "ENUM_VALUE",
    "INPUT_OBJECT",
    "INPUT_FIELD_DEFINITION",
];

/// Parts of a definition behind its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Absent,
    Present,
}

impl Part {
    fn of(present: bool) -> Self {
        if present { Self::Present } else { Self::Absent }
    }
}

impl<'t> Cursor<'t> {
    /// Parses a definition that starts at `at`, with or without a description.
    pub(super) fn type_system_definition(&mut self, at: u32) -> Parsed<Definition<'t>> {
        self.skip_description()?;
        let keyword = self.slice(self.token);
        self.advance()?;
        let name = match keyword {
            "schema" => {
                self.const_directives()?;
                self.expect(Kind::BraceLeft)?;
                self.until(Kind::BraceRight, Self::root_operation)?;
                None
            }
            "directive" => Some(self.directive_definition()?),
            _ => {
                let name = self.name()?.text;
                self.parts(keyword)?;
                Some(name)
            }
        };
        Ok(Definition::TypeSystem { at, name })
    }

    /// Parses an extension, which must add something.
    pub(super) fn type_system_extension(&mut self, at: u32) -> Parsed<Definition<'t>> {
        let token = self.lookahead()?;
        let keyword = self.slice(token);
        let is_known = matches!(
            keyword,
            "schema" | "scalar" | "type" | "interface" | "union" | "enum" | "input"
        );
        if token.kind != Kind::Name || !is_known {
            return Err(self.unexpected(token));
        }
        self.advance()?;
        self.advance()?;
        let (name, part) = if keyword == "schema" {
            let directives = self.const_directives()?;
            let roots = self.skip(Kind::BraceLeft)?;
            if roots {
                self.until(Kind::BraceRight, Self::root_operation)?;
            }
            (None, Part::of(roots || directives == Part::Present))
        } else {
            (Some(self.name()?.text), self.parts(keyword)?)
        };
        match part {
            Part::Absent => Err(self.unexpected(self.token)),
            Part::Present => Ok(Definition::TypeSystem { at, name }),
        }
    }

    /// Parses the parts of a type behind its name.
    fn parts(&mut self, keyword: &str) -> Parsed<Part> {
        let has_interfaces = matches!(keyword, "type" | "interface") && self.interfaces()?;
        let has_directives = self.const_directives()? == Part::Present;
        let has_members = match keyword {
            "type" | "interface" => self.block(Self::field_definition)?,
            "input" => self.block(Self::input_value_definition)?,
            "enum" => self.block(Self::enum_value_definition)?,
            "union" => self.members()?,
            _ => false,
        };
        Ok(Part::of(has_interfaces || has_directives || has_members))
    }

    fn const_directives(&mut self) -> Parsed<Part> {
        let directives = self.directives(Variables::Refused)?;
        Ok(Part::of(!directives.is_empty()))
    }

    /// `{` items `}`, if there is a `{`.
    fn block(&mut self, item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<bool> {
        let is = self.skip(Kind::BraceLeft)?;
        if is {
            self.until(Kind::BraceRight, item)?;
        }
        Ok(is)
    }

    /// Items with `delimiter` between them, and optionally before the first.
    fn delimited(&mut self, delimiter: Kind, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.skip(delimiter)?;
        item(self)?;
        while self.skip(delimiter)? {
            item(self)?;
        }
        Ok(())
    }

    fn any_name(&mut self) -> Parsed<()> {
        self.name().map(drop)
    }

    fn interfaces(&mut self) -> Parsed<bool> {
        let is = self.skip_keyword("implements")?;
        if is {
            self.delimited(Kind::Ampersand, Self::any_name)?;
        }
        Ok(is)
    }

    fn members(&mut self) -> Parsed<bool> {
        let is = self.skip(Kind::Equals)?;
        if is {
            self.delimited(Kind::Pipe, Self::any_name)?;
        }
        Ok(is)
    }

    fn root_operation(&mut self) -> Parsed<()> {
        let token = self.token;
        self.name()?;
        if !matches!(self.slice(token), "query" | "mutation" | "subscription") {
            return Err(self.unexpected(token));
        }
        self.expect(Kind::Colon)?;
        self.any_name()
    }

    fn field_definition(&mut self) -> Parsed<()> {
        self.skip_description()?;
        self.name()?;
        self.argument_definitions()?;
        self.expect(Kind::Colon)?;
        self.type_reference()?;
        self.const_directives().map(drop)
    }

    fn argument_definitions(&mut self) -> Parsed<()> {
        if self.skip(Kind::ParenLeft)? {
            self.until(Kind::ParenRight, Self::input_value_definition)?;
        }
        Ok(())
    }

    fn input_value_definition(&mut self) -> Parsed<()> {
        self.skip_description()?;
        self.name()?;
        self.expect(Kind::Colon)?;
        self.type_reference()?;
        if self.skip(Kind::Equals)? {
            self.value(Variables::Refused)?;
        }
        self.const_directives().map(drop)
    }

    fn enum_value_definition(&mut self) -> Parsed<()> {
        self.skip_description()?;
        if let word @ ("true" | "false" | "null") = self.slice(self.token) {
            let why = format!("Name \"{word}\" is reserved and cannot be used for an enum value.");
            return Err(SyntaxError::new(self.token.start, why));
        }
        self.name()?;
        self.const_directives().map(drop)
    }

    fn directive_definition(&mut self) -> Parsed<&'t str> {
        self.expect(Kind::At)?;
        let name = self.name()?.text;
        self.argument_definitions()?;
        self.skip_keyword("repeatable")?;
        self.expect_keyword("on")?;
        self.delimited(Kind::Pipe, |cursor| {
            let token = cursor.token;
            let location = cursor.name()?;
            // graphql-js also knows the location of a later draft
            if LOCATIONS.contains(&location.text) || location.text == "DIRECTIVE_DEFINITION" {
                return Ok(());
            }
            Err(cursor.unexpected(token))
        })?;
        Ok(name)
    }
}
