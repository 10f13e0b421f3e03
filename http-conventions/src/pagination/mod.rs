//! Collections in pages: `limit` and `after` in the query, `{data, has_more, next_cursor}` in the answer.
//!
//! A page continues after the *position* of its last row (the values it is sorted by), not after a number of rows, so
//! that inserts and deletes neither repeat nor skip a row. The position travels in a signed, opaque cursor that is bound to
//! the collection, the caller, the order and the filters it came from.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use http_conventions::pagination::{CursorBinding, CursorKey, CursorKeyring, Direction, Page, PageRules, PositionValue};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let keyring = CursorKeyring::new(CursorKey::new(1, [7; 32]));
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let binding = CursorBinding::new("/v1/charges", "user-7").with_sort("created,id").with_filter("status", "paid");
//!
//! // the first page: two rows are asked for, so three are fetched
//! let request = PageRules::default().parse(Some("limit=2&status=paid"))?;
//! let rows = vec![(10, "ch_1"), (10, "ch_2"), (11, "ch_3")];
//! assert_eq!(rows.len(), request.limit.fetch());
//! let page = Page::from_rows(rows, request.limit, |(created, id)| {
//!     keyring.seal(&[PositionValue::from(*created), PositionValue::from(*id)], Direction::Forward, &binding, now)
//! })?;
//! assert_eq!(page.data(), [(10, "ch_1"), (10, "ch_2")]);
//!
//! // the next page starts after (10, "ch_2")
//! let cursor = page.next_cursor().ok_or("there is more")?;
//! let query = format!("limit=2&status=paid&after={cursor}");
//! let request = PageRules::default().parse(Some(&query))?;
//! let after = keyring.open(&request.after.ok_or("a cursor")?, &binding, now)?;
//! assert_eq!(after.values, [PositionValue::Integer(10), PositionValue::Text("ch_2".into())]);
//! # Ok(())
//! # }
//! ```
//!
//! # What the host must do
//!
//! - Sort by columns that end in a unique one, and compare positions by all of them:
//!   `WHERE (created, id) > (?, ?) ORDER BY created, id LIMIT limit + 1`.
//! - Authorise every page anew: a cursor says where to go on, not that the caller may.

mod binding;
mod cursor;
mod encoding;
mod key;
mod page;
mod request;

pub use self::{
    binding::CursorBinding,
    cursor::{CursorError, CursorPosition, PositionTooLong},
    encoding::{Direction, PositionValue},
    key::{CursorKey, CursorKeyring},
    page::Page,
    request::{InvalidPageRequest, InvalidPageRules, Limit, PageRequest, PageRules},
};
