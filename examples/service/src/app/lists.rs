//! Pages of a list: the window a request asks for, and the envelope that answers it.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_conventions::pagination::{CursorBinding, Direction, Limit, Page, PageRules, PositionValue};
use http_conventions::problem::{ErrorStatus, Problem};
use serde_json::Value;

use super::App;
use super::body::json;
use super::problem::unavailable;
use crate::desk::{Order, Placed, Window};

/// What a request for a page asks for.
pub(super) struct Asked {
    pub(super) limit: Limit,
    pub(super) window: Window,
    binding: CursorBinding,
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
    pub(super) fn asked_page(
        &self,
        request: &Request<Bytes>,
        binding: CursorBinding,
    ) -> Result<Asked, Problem> {
        let asked = PageRules::default()
            .parse(request.uri().query())
            .map_err(|refused| refused.problem(&self.problems))?;
        let from = match &asked.after {
            Some(cursor) => Some(self.open_cursor(cursor, &binding)?),
            None => None,
        };
        let window = Window {
            from,
            order: Order::NewestFirst,
            limit: asked.limit.fetch(),
        };
        Ok(Asked {
            limit: asked.limit,
            window,
            binding,
        })
    }

    fn open_cursor(&self, cursor: &str, binding: &CursorBinding) -> Result<i64, Problem> {
        let position = self
            .cursors
            .open(cursor, binding, self.clock.now())
            .map_err(|refused| refused.problem(&self.problems))?;
        match position.values.as_slice() {
            [PositionValue::Integer(position)] => Ok(*position),
            // sealed by an earlier release with another position
            _ => Err(Problem::new(ErrorStatus::BAD_REQUEST).with_detail("the cursor is of another form")),
        }
    }

    /// The envelope of the rows that were read for `asked`: one more than the page shows, when there are more.
    ///
    /// # Errors
    ///
    /// Never for the positions of this service, which fit a cursor.
    pub(super) fn page<T>(
        &self,
        asked: &Asked,
        rows: Vec<Placed<T>>,
        body: impl Fn(&T) -> Value,
    ) -> Result<Response<Bytes>, Problem> {
        let now = self.clock.now();
        let page = Page::from_rows(rows, asked.limit, |last| {
            let position = [PositionValue::Integer(last.position)];
            self.cursors
                .seal(&position, Direction::Forward, &asked.binding, now)
        })
        .map_err(|_| unavailable())?;
        Ok(json(StatusCode::OK, &page.map(|placed| body(&placed.row))))
    }
}
