//! Pages of a list: what a request asks for, and the envelope that answers it.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_conventions::pagination::{CursorBinding, Direction, Limit, Page, PageRules, PositionValue};
use http_conventions::problem::{ErrorStatus, Problem};
use serde_json::Value;

use super::App;
use super::body::json;
use super::problem::unavailable;
use crate::desk::{Order, Placed, Window};

/// The place of a row in its list, as a cursor seals it.
pub(super) trait Position: Sized {
    fn seal(&self) -> PositionValue;
    /// `None` for what an earlier release sealed in another form.
    fn open(value: &PositionValue) -> Option<Self>;
}

/// A row of the desk: its number.
impl Position for i64 {
    fn seal(&self) -> PositionValue {
        PositionValue::Integer(*self)
    }

    fn open(value: &PositionValue) -> Option<Self> {
        match value {
            PositionValue::Integer(position) => Some(*position),
            _ => None,
        }
    }
}

/// What a request for a page asks for.
pub(super) struct Asked<P> {
    pub(super) limit: Limit,
    /// The row after which the page begins; without it, the list's first.
    pub(super) after: Option<P>,
    binding: CursorBinding,
}

impl Asked<i64> {
    /// The rows of the desk that the page needs.
    pub(super) fn window(&self) -> Window {
        Window {
            from: self.after,
            order: Order::NewestFirst,
            limit: self.limit.fetch(),
        }
    }
}

/// The first value of a query parameter; empty is absent.
pub(super) fn query_parameter(request: &Request<Bytes>, name: &str) -> Option<String> {
    let query = request.uri().query()?.as_bytes();
    let (_, value) = form_urlencoded::parse(query).find(|(found, _)| found == name)?;
    (!value.is_empty()).then(|| value.into_owned())
}

impl App {
    /// Reads `limit` and `after`; the cursor must be one of this list, with these filters, for this caller.
    ///
    /// # Errors
    ///
    /// 400 for a limit out of range, and for a cursor that is not one, expired, or of another list.
    pub(super) fn asked_page<P: Position>(
        &self,
        request: &Request<Bytes>,
        binding: CursorBinding,
    ) -> Result<Asked<P>, Problem> {
        let asked = PageRules::default()
            .parse(request.uri().query())
            .map_err(|refused| refused.problem(&self.problems))?;
        let after = match &asked.after {
            Some(cursor) => Some(self.open_cursor(cursor, &binding)?),
            None => None,
        };
        Ok(Asked {
            limit: asked.limit,
            after,
            binding,
        })
    }

    fn open_cursor<P: Position>(&self, cursor: &str, binding: &CursorBinding) -> Result<P, Problem> {
        let position = self
            .cursors
            .open(cursor, binding, self.clock.now())
            .map_err(|refused| refused.problem(&self.problems))?;
        let position = match position.values.as_slice() {
            [value] => P::open(value),
            _ => None,
        };
        position.ok_or_else(|| {
            Problem::new(ErrorStatus::BAD_REQUEST).with_detail("the cursor is of another form")
        })
    }

    /// The envelope of the rows that were read for `asked`: one more than the page shows, when there are more.
    ///
    /// # Errors
    ///
    /// Never for the positions of this service, which fit a cursor.
    pub(super) fn page<P: Position, T>(
        &self,
        asked: &Asked<P>,
        rows: Vec<T>,
        position: impl FnOnce(&T) -> P,
        body: impl Fn(&T) -> Value,
    ) -> Result<Response<Bytes>, Problem> {
        let now = self.clock.now();
        let page = Page::from_rows(rows, asked.limit, |last| {
            let position = [position(last).seal()];
            self.cursors
                .seal(&position, Direction::Forward, &asked.binding, now)
        })
        .map_err(|_| unavailable())?;
        Ok(json(StatusCode::OK, &page.map(|row| body(&row))))
    }

    /// The page of rows of the desk.
    ///
    /// # Errors
    ///
    /// As [`page`](Self::page).
    pub(super) fn page_of_desk<T>(
        &self,
        asked: &Asked<i64>,
        rows: Vec<Placed<T>>,
        body: impl Fn(&T) -> Value,
    ) -> Result<Response<Bytes>, Problem> {
        self.page(asked, rows, |last| last.position, |placed| body(&placed.row))
    }
}
