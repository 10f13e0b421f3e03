//! Pages of a list: what a request asks for, and the envelope that answers it.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_conventions::pagination::{AskedPage, CursorBinding, Page, PageRules, Position, PositionTooLong};
use http_conventions::problem::{ErrorStatus, Problem};
use serde_json::Value;

use super::App;
use super::body::json;
use crate::desk::{Order, Placed, Window};

/// The rows of the desk that a page needs.
pub(super) fn window(asked: &AskedPage<'_, i64>) -> Window {
    Window {
        from: asked.after().copied(),
        order: Order::NewestFirst,
        limit: asked.limit().fetch(),
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
    ) -> Result<AskedPage<'_, P>, Problem> {
        let (rules, query) = (PageRules::default(), request.uri().query());
        self.cursors
            .open_page(rules, query, binding, self.clock.now())
            .map_err(|refused| refused.problem(&self.problems))
    }

    /// The page of rows of the desk.
    ///
    /// # Errors
    ///
    /// As [`shown`].
    pub(super) fn page_of_desk<T>(
        &self,
        asked: &AskedPage<'_, i64>,
        rows: Vec<Placed<T>>,
        body: impl Fn(&T) -> Value,
    ) -> Result<Response<Bytes>, Problem> {
        let page = asked.page(rows, |last| last.position);
        shown(page, |placed| body(&placed.row))
    }
}

/// The envelope of a page.
///
/// # Errors
///
/// Never for the positions of this service, which fit a cursor.
pub(super) fn shown<T>(
    page: Result<Page<T>, PositionTooLong>,
    body: impl Fn(&T) -> Value,
) -> Result<Response<Bytes>, Problem> {
    let page = page.map_err(|_| Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR))?;
    Ok(json(StatusCode::OK, &page.map(|row| body(&row))))
}
