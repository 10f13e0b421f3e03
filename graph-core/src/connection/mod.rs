//! Relay connections: cursor pagination with opaque, signed cursors.
//!
//! The macro [`connection!`](crate::connection!) declares the two types of a connection. This
//! module validates the arguments, signs the cursors and computes [`PageInfo`]. Specification:
//! [Relay cursor connections](https://relay.dev/graphql/connections.htm).
//!
//! # Security
//!
//! Cursors are signed, not encrypted: the client can read the position.
//!
//! # Example
//!
//! ```
//! use graph_core::connection::{CursorKey, Cursors, PageArguments, PageLimits};
//!
//! let cursors = Cursors::new(CursorKey::try_from([7; 32].as_slice()).unwrap());
//! let months = vec!["January", "February", "March", "April"];
//! let page_of = |first, after| {
//!     let arguments = PageArguments { first, after, ..PageArguments::default() };
//!     let field = cursors.field("Query.months");
//!     let request = field.request(PageLimits::default(), arguments).unwrap();
//!     request.slice(months.clone(), |month| (*month).to_owned()).unwrap()
//! };
//!
//! let page = page_of(Some(3), None);
//! assert_eq!(page.nodes().copied().collect::<Vec<_>>(), ["January", "February", "March"]);
//! assert!(page.page_info().has_next_page());
//!
//! let rest = page_of(None, page.page_info().end_cursor().map(str::to_owned));
//! assert_eq!(rest.nodes().copied().collect::<Vec<_>>(), ["April"]);
//! assert!(rest.page_info().has_previous_page());
//! assert!(!rest.page_info().has_next_page());
//! ```

mod cursor;
mod declare;
mod page;
mod request;

pub use self::cursor::{CursorKey, Cursors, FieldCursors, InvalidCursorKey};
pub use self::page::{Edge, Page, PageInfo};
pub use self::request::{Direction, PageArguments, PageLimits, PageRequest};
