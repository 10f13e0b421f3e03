//! Pages of a collection.

mod asked;
mod binding;
mod cursor;
mod encoding;
mod key;
mod page;
mod request;

pub use self::{
    asked::{AskedPage, PageError, Position},
    binding::CursorBinding,
    cursor::{CursorError, CursorPosition, PositionTooLong},
    encoding::{Direction, PositionValue},
    key::{CursorKey, CursorKeyring},
    page::Page,
    request::{InvalidPageRequest, InvalidPageRules, Limit, PageRequest, PageRules},
};
