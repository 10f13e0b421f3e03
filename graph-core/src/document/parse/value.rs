//! Values and types ([Input Values](https://spec.graphql.org/September2025/#sec-Input-Values)).

use super::ast::{Argument, List, ObjectField, TypeNode, Value, ValueKind};
use super::cursor::{Cursor, Parsed, stored};
use super::lexer::Kind;
use super::{SyntaxError, strings};
use crate::schema::Wrappers;

/// Variables are allowed in a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Variables {
    Allowed,
    Refused,
}

impl<'t> Cursor<'t> {
    pub(super) fn value(&mut self, variables: Variables) -> Parsed<Value<'t>> {
        let (at, token) = (self.at(), self.token);
        let kind = match token.kind {
            Kind::BracketLeft => self.deeper(|cursor| cursor.list(variables))?,
            Kind::BraceLeft => self.deeper(|cursor| cursor.object(variables))?,
            Kind::Int => self.leaf(ValueKind::Int(self.slice(token)))?,
            Kind::Float => self.leaf(ValueKind::Float(self.slice(token)))?,
            Kind::String(_) | Kind::BlockString => {
                let text = strings::value(self.text, token);
                let is_block = token.kind == Kind::BlockString;
                self.leaf(ValueKind::String { text, is_block })?
            }
            Kind::Name => self.leaf(match self.slice(token) {
                "true" => ValueKind::Boolean(true),
                "false" => ValueKind::Boolean(false),
                "null" => ValueKind::Null,
                name => ValueKind::Enum(name),
            })?,
            Kind::Dollar => {
                self.advance()?;
                if variables == Variables::Refused {
                    if !self.is(Kind::Name) {
                        return Err(self.unexpected(token));
                    }
                    let name = self.slice(self.token);
                    let why = format!("Unexpected variable \"${name}\" in constant value.");
                    return Err(SyntaxError::new(token.start, why));
                }
                ValueKind::Variable(self.name()?.text)
            }
            _ => return Err(self.unexpected(token)),
        };
        Ok(Value { at, kind })
    }

    fn leaf(&mut self, kind: ValueKind<'t>) -> Parsed<ValueKind<'t>> {
        self.advance()?;
        Ok(kind)
    }

    fn list(&mut self, variables: Variables) -> Parsed<ValueKind<'t>> {
        self.advance()?;
        let mut values = Vec::new();
        while !self.skip(Kind::BracketRight)? {
            values.push(self.value(variables)?);
        }
        Ok(ValueKind::List(stored(values, &mut self.ast.values)))
    }

    fn object(&mut self, variables: Variables) -> Parsed<ValueKind<'t>> {
        self.advance()?;
        let mut fields = Vec::new();
        while !self.skip(Kind::BraceRight)? {
            let name = self.name()?;
            self.expect(Kind::Colon)?;
            let value = self.value(variables)?;
            fields.push(ObjectField { name, value });
        }
        Ok(ValueKind::Object(stored(fields, &mut self.ast.fields)))
    }

    pub(super) fn arguments(&mut self, variables: Variables) -> Parsed<List<Argument<'t>>> {
        let mut arguments = Vec::new();
        if self.skip(Kind::ParenLeft)? {
            self.until(Kind::ParenRight, |cursor| {
                let name = cursor.name()?;
                cursor.expect(Kind::Colon)?;
                let value = cursor.value(variables)?;
                arguments.push(Argument { name, value });
                Ok(())
            })?;
        }
        Ok(stored(arguments, &mut self.ast.arguments))
    }

    pub(super) fn type_reference(&mut self) -> Parsed<TypeNode<'t>> {
        let at = self.at();
        let mut ty = if self.skip(Kind::BracketLeft)? {
            let inner = self.deeper(Self::type_reference)?;
            self.expect(Kind::BracketRight)?;
            let wrappers = inner.wrappers.in_list();
            let wrappers = wrappers.ok_or_else(|| self.too_deep())?;
            TypeNode {
                at,
                wrappers,
                ..inner
            }
        } else {
            let name = self.name()?;
            let wrappers = Wrappers::NONE;
            TypeNode { at, name, wrappers }
        };
        if self.skip(Kind::Bang)? {
            ty.wrappers = ty.wrappers.non_null();
        }
        Ok(ty)
    }

    /// Parses a text that is one value.
    #[cfg(test)]
    pub(super) fn only_value(mut self) -> Parsed<(super::Ast<'t>, Value<'t>)> {
        let value = self.value(Variables::Refused)?;
        self.expect(Kind::End)?;
        Ok((self.ast, value))
    }
}
