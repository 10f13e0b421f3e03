//! Paging: pages with signed cursors, and links.
//!
//! # Pages
//!
//! A collection is read in pages: `limit` and `after` or `before` in the query, `{data, has_more,
//! next_cursor}` in the response.
//!
//! A page continues after the *position* of the last row of the previous page: the values of its
//! sort columns, not a row number. Inserts and deletes therefore neither repeat nor skip a row. The
//! position is sent in a signed, opaque cursor. The cursor is bound to the collection, the caller,
//! the order and the filters of its request.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use http_conventions::paging::{CursorBinding, CursorKey, CursorKeyring, Page, PageRules};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let keyring = CursorKeyring::new(CursorKey::new(1, [7; 32]));
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let charges = [30_i64, 20, 10];
//! let list = |query: &str| -> Result<Page<i64>, Box<dyn std::error::Error>> {
//!     let binding = CursorBinding::new("/v1/charges", "user-7")
//!         .with_sort("-id")
//!         .with_filter("status", "paid");
//!     let asked = keyring.open_page::<i64>(PageRules::default(), Some(query), binding, now)?;
//!     let rows = charges
//!         .iter()
//!         .copied()
//!         .filter(|id| asked.after().is_none_or(|after| id < after));
//!     Ok(asked.page(rows.take(asked.limit().fetch()).collect(), |last| *last)?)
//! };
//!
//! let first = list("limit=2&status=paid")?;
//! assert_eq!(first.data(), [30, 20]);
//!
//! let cursor = first.next_cursor().ok_or("there is more")?;
//! let second = list(&format!("limit=2&status=paid&after={cursor}"))?;
//! assert_eq!((second.data(), second.has_more()), (&[10][..], false));
//! # Ok(())
//! # }
//! ```
//!
//! To page backwards, create the rules [with `before`](PageRules::with_before), and pass
//! [`Page::previous_cursor`] as `before`. The host then fetches the rows before
//! [`AskedPage::before`] in reverse order. [`Page::links`] returns links to both neighbours.
//!
//! [`CursorKeyring::open_page`] and [`AskedPage::page`] combine these steps: [`PageRules::parse`],
//! [`CursorKeyring::open`], [`CursorKeyring::seal`] and [`Page::from_rows`].
//!
//! # Contract
//!
//! - Sort by columns of which the last is unique, and compare positions by all of them: `WHERE
//!   (created, id) > (?, ?) ORDER BY created, id LIMIT limit + 1`, and for `before` `WHERE
//!   (created, id) < (?, ?) ORDER BY created DESC, id DESC LIMIT limit + 1`.
//! - Authorize every page: a cursor is a position, not a permission.
//!
//! # Links
//!
//! Links to related resources and next actions: an object of named links in the body, and the
//! `Link` field ([RFC 8288](https://www.rfc-editor.org/rfc/rfc8288)).
//!
//! ```
//! use http::{HeaderMap, Method};
//! use http_conventions::{
//!     paging::{Link, Links, Relation},
//!     routing::Location,
//! };
//!
//! let charge = Location::of_path(["v1", "charges", "ch_1"])?;
//! let refunds = Location::of_path(["v1", "charges", "ch_1", "refunds"])?;
//! let links = Links::default()
//!     .with(Relation::SELF, Link::new(charge))
//!     .with(
//!         "refund".parse()?,
//!         Link::new(refunds).with_method(Method::POST),
//!     );
//!
//! assert_eq!(
//!     serde_json::to_string(&links)?,
//!     r#"{"self":{"href":"/v1/charges/ch_1"},"refund":{"href":"/v1/charges/ch_1/refunds","method":"POST"}}"#
//! );
//!
//! let mut headers = HeaderMap::new();
//! links.apply(&mut headers);
//! assert_eq!(headers["link"], "</v1/charges/ch_1>; rel=\"self\"");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod links;
pub(crate) mod pagination;

pub use self::{
    links::{InvalidRelation, Link, Links, Relation},
    pagination::{
        AskedPage, CursorBinding, CursorError, CursorKey, CursorKeyring, CursorPosition, Direction,
        InvalidPageRequest, InvalidPageRules, Limit, Page, PageError, PageRequest, PageRules, Position,
        PositionTooLong, PositionValue,
    },
};
