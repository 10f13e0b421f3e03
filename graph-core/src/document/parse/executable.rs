//! Operations and fragments
//! ([Executable Definitions](https://spec.graphql.org/September2025/#ExecutableDefinition)).

use juniper::OperationType;

use super::SyntaxError;
use super::ast::{
    Ast, Definition, Directive, Field, Fragment, Inline, List, Name, Operation, Selection, Spread,
    VariableDefinition,
};
use super::cursor::{Cursor, Parsed, stored};
use super::lexer::Kind;
use super::value::Variables;

impl<'t> Cursor<'t> {
    pub(super) fn document(mut self) -> Parsed<Ast<'t>> {
        loop {
            let definition = self.definition()?;
            self.ast.definitions.push(definition);
            if self.is(Kind::End) {
                return Ok(self.ast);
            }
        }
    }

    fn definition(&mut self) -> Parsed<Definition<'t>> {
        let at = self.at();
        if self.is(Kind::BraceLeft) {
            return self
                .operation(at, OperationType::Query)
                .map(Definition::Operation);
        }
        let is_described = self.is_string();
        let keyword = if is_described {
            self.lookahead()?
        } else {
            self.token
        };
        if is_described && keyword.kind == Kind::BraceLeft {
            let why = "Unexpected description, descriptions are not supported on shorthand queries.";
            return Err(SyntaxError::new(self.token.start, why));
        }
        if keyword.kind != Kind::Name {
            return Err(self.unexpected(keyword));
        }
        let kind = match self.slice(keyword) {
            "query" => OperationType::Query,
            "mutation" => OperationType::Mutation,
            "subscription" => OperationType::Subscription,
            "fragment" => return self.fragment(at).map(Definition::Fragment),
            "schema" | "scalar" | "type" | "interface" | "union" | "enum" | "input" | "directive" => {
                return self.type_system_definition(at);
            }
            _ if is_described => {
                let why = "Unexpected description, only GraphQL definitions support descriptions.";
                return Err(SyntaxError::new(self.token.start, why));
            }
            "extend" => return self.type_system_extension(at),
            _ => return Err(self.unexpected(keyword)),
        };
        self.skip_description()?;
        self.advance()?;
        self.operation(at, kind).map(Definition::Operation)
    }

    /// Parses an operation after its keyword.
    fn operation(&mut self, at: u32, kind: OperationType) -> Parsed<Operation<'t>> {
        let is_shorthand = self.is(Kind::BraceLeft);
        let name = if self.is(Kind::Name) {
            Some(self.name()?)
        } else {
            None
        };
        Ok(Operation {
            at,
            kind,
            name,
            variables: if is_shorthand {
                List::default()
            } else {
                self.variables()?
            },
            directives: self.directives(Variables::Allowed)?,
            selections: self.selection_set()?,
        })
    }

    fn variables(&mut self) -> Parsed<List<VariableDefinition<'t>>> {
        let mut variables = Vec::new();
        if self.skip(Kind::ParenLeft)? {
            self.until(Kind::ParenRight, |cursor| {
                variables.push(cursor.variable()?);
                Ok(())
            })?;
        }
        Ok(stored(variables, &mut self.ast.variables))
    }

    fn variable(&mut self) -> Parsed<VariableDefinition<'t>> {
        let at = self.at();
        self.skip_description()?;
        self.expect(Kind::Dollar)?;
        let name = self.name()?;
        self.expect(Kind::Colon)?;
        let ty = self.type_reference()?;
        let default = if self.skip(Kind::Equals)? {
            Some(self.value(Variables::Refused)?)
        } else {
            None
        };
        Ok(VariableDefinition {
            at,
            name,
            ty,
            default,
            directives: self.directives(Variables::Refused)?,
        })
    }

    fn fragment(&mut self, at: u32) -> Parsed<Fragment<'t>> {
        self.skip_description()?;
        self.advance()?;
        let name = self.fragment_name()?;
        self.expect_keyword("on")?;
        Ok(Fragment {
            at,
            name,
            on: self.name()?,
            directives: self.directives(Variables::Allowed)?,
            selections: self.selection_set()?,
        })
    }

    fn fragment_name(&mut self) -> Parsed<Name<'t>> {
        if self.is_keyword("on") {
            return Err(self.unexpected(self.token));
        }
        self.name()
    }

    fn selection_set(&mut self) -> Parsed<List<Selection<'t>>> {
        self.deeper(|cursor| {
            cursor.expect(Kind::BraceLeft)?;
            let mut selections = Vec::new();
            cursor.until(Kind::BraceRight, |cursor| {
                selections.push(cursor.selection()?);
                Ok(())
            })?;
            Ok(stored(selections, &mut cursor.ast.selections))
        })
    }

    fn selection(&mut self) -> Parsed<Selection<'t>> {
        let at = self.at();
        if !self.skip(Kind::Spread)? {
            return self.field().map(Selection::Field);
        }
        let is_inline = self.skip_keyword("on")?;
        if !is_inline && self.is(Kind::Name) {
            return Ok(Selection::Spread(Spread {
                at,
                name: self.fragment_name()?,
                directives: self.directives(Variables::Allowed)?,
            }));
        }
        Ok(Selection::Inline(Inline {
            at,
            on: if is_inline { Some(self.name()?) } else { None },
            directives: self.directives(Variables::Allowed)?,
            selections: self.selection_set()?,
        }))
    }

    fn field(&mut self) -> Parsed<Field<'t>> {
        let first = self.name()?;
        let (alias, name) = if self.skip(Kind::Colon)? {
            (Some(first), self.name()?)
        } else {
            (None, first)
        };
        let arguments = self.arguments(Variables::Allowed)?;
        let directives = self.directives(Variables::Allowed)?;
        let selections_at = self.at();
        let selections = if self.is(Kind::BraceLeft) {
            self.selection_set()?
        } else {
            List::default()
        };
        Ok(Field {
            alias,
            name,
            arguments,
            directives,
            selections,
            selections_at,
        })
    }

    pub(super) fn directives(&mut self, variables: Variables) -> Parsed<List<Directive<'t>>> {
        let mut directives = Vec::new();
        while self.is(Kind::At) {
            let at = self.at();
            self.advance()?;
            directives.push(Directive {
                at,
                name: self.name()?,
                arguments: self.arguments(variables)?,
            });
        }
        Ok(stored(directives, &mut self.ast.directives))
    }
}
