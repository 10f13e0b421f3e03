//! Reading of tokens.

use std::borrow::Cow;

use super::ast::{Ast, List, Name};
use super::lexer::{Kind, Token, token};
use super::{ParseLimits, SyntaxError, strings};

/// Parser at one token of a text.
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) token: Token,
    pub(super) ast: Ast<'t>,
    limits: ParseLimits,
    tokens: usize,
    depth: usize,
}

pub(super) type Parsed<T> = Result<T, SyntaxError>;

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, limits: ParseLimits) -> Parsed<Self> {
        if u32::try_from(text.len()).is_err() {
            return Err(SyntaxError::new(0, "Document is too long. Parsing aborted."));
        }
        let mut cursor = Self {
            text,
            token: Token {
                kind: Kind::Start,
                start: 0,
                end: 0,
            },
            ast: Ast {
                text,
                ..Ast::default()
            },
            limits,
            tokens: 0,
            depth: 0,
        };
        cursor.advance()?;
        Ok(cursor)
    }

    /// Reads the next token.
    pub(super) fn advance(&mut self) -> Parsed<()> {
        self.token = token(self.text, self.token.end)?;
        if self.token.kind != Kind::End {
            self.tokens += 1;
            if self.tokens > self.limits.tokens {
                let limit = self.limits.tokens;
                let why = format!("Document contains more than {limit} tokens. Parsing aborted.");
                return Err(SyntaxError::new(self.token.start, why));
            }
        }
        Ok(())
    }

    /// The token after the current one.
    pub(super) fn lookahead(&self) -> Parsed<Token> {
        token(self.text, self.token.end)
    }

    /// Position of the current token.
    pub(super) fn at(&self) -> u32 {
        // `new` refuses longer texts
        u32::try_from(self.token.start).unwrap_or(u32::MAX)
    }

    pub(super) fn is(&self, kind: Kind) -> bool {
        self.token.kind == kind
    }

    pub(super) fn slice(&self, token: Token) -> &'t str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    pub(super) fn is_keyword(&self, word: &str) -> bool {
        self.is(Kind::Name) && self.slice(self.token) == word
    }

    pub(super) fn expect(&mut self, kind: Kind) -> Parsed<()> {
        if self.is(kind) {
            return self.advance();
        }
        Err(self.expected(kind.described()))
    }

    pub(super) fn expect_keyword(&mut self, word: &str) -> Parsed<()> {
        if self.is_keyword(word) {
            return self.advance();
        }
        Err(self.expected(&format!("\"{word}\"")))
    }

    /// Skips a token of `kind`, and returns `true` if there was one.
    pub(super) fn skip(&mut self, kind: Kind) -> Parsed<bool> {
        let is = self.is(kind);
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    pub(super) fn skip_keyword(&mut self, word: &str) -> Parsed<bool> {
        let is = self.is_keyword(word);
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    pub(super) fn name(&mut self) -> Parsed<Name<'t>> {
        let name = Name {
            text: self.slice(self.token),
            at: self.at(),
        };
        self.expect(Kind::Name)?;
        Ok(name)
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.token.kind, Kind::String(_) | Kind::BlockString)
    }

    pub(super) fn skip_description(&mut self) -> Parsed<()> {
        if self.is_string() { self.advance() } else { Ok(()) }
    }

    /// Calls `item` until the token `close`, at least once.
    pub(super) fn until(&mut self, close: Kind, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        loop {
            item(self)?;
            if self.skip(close)? {
                return Ok(());
            }
        }
    }

    /// Calls `nested` one level deeper.
    pub(super) fn deeper<T>(&mut self, nested: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= self.limits.depth {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let parsed = nested(self);
        self.depth -= 1;
        parsed
    }

    pub(super) fn too_deep(&self) -> SyntaxError {
        let why = format!(
            "Document nesting exceeds the limit of {} levels",
            self.limits.depth
        );
        let mut error = SyntaxError::new(self.token.start, why);
        error.is_too_deep = true;
        error
    }

    /// Error for a token that no rule of the grammar starts with.
    pub(super) fn unexpected(&self, token: Token) -> SyntaxError {
        SyntaxError::new(token.start, format!("Unexpected {}.", self.described(token)))
    }

    fn expected(&self, what: &str) -> SyntaxError {
        let found = self.described(self.token);
        SyntaxError::new(self.token.start, format!("Expected {what}, found {found}."))
    }

    fn described(&self, token: Token) -> String {
        let value = match token.kind {
            Kind::Name | Kind::Int | Kind::Float => Cow::Borrowed(self.slice(token)),
            Kind::String(_) | Kind::BlockString => strings::value(self.text, token),
            kind => return kind.described().to_owned(),
        };
        format!("{} \"{value}\"", token.kind.described())
    }
}

/// Moves the nodes from `pending` to the end of `all`.
pub(super) fn stored<T>(pending: Vec<T>, all: &mut Vec<T>) -> List<T> {
    let start = all.len();
    all.extend(pending);
    List::of(start..all.len())
}
