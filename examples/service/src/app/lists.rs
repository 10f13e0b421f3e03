//! Pagination: parameters of a list request, and the response envelope.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::paging::{AskedPage, CursorBinding, Page, PageRules, Position, PositionTooLong};
use serde_json::Value;

use super::body::json;
use super::{App, Handled};
use crate::desk::{Order, Placed, Window};

/// Window of desk rows for a page.
pub(super) fn window(asked: &AskedPage<'_, i64>) -> Window {
    let (from, order) = match asked.before() {
        Some(position) => (Some(position), Order::OldestFirst),
        None => (asked.after(), Order::NewestFirst),
    };
    Window {
        from: from.copied(),
        order,
        limit: asked.limit().fetch(),
    }
}

/// First value of a query parameter. An empty value counts as absent.
pub(super) fn query_parameter(request: &Request<Bytes>, name: &str) -> Option<String> {
    let query = request.uri().query()?.as_bytes();
    let (_, value) = form_urlencoded::parse(query).find(|(found, _)| found == name)?;
    (!value.is_empty()).then(|| value.into_owned())
}

/// Parses an optional filter parameter.
///
/// # Errors
///
/// Returns 400 for an unknown or empty value, and for a repeated parameter.
pub(super) fn filtered_by<T>(
    request: &Request<Bytes>,
    name: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, Problem> {
    let query = request.uri().query().unwrap_or_default().as_bytes();
    let mut values = form_urlencoded::parse(query).filter(|(found, _)| found == name);
    let chosen = match (values.next(), values.next()) {
        (None, _) => return Ok(None),
        (Some((_, value)), None) => read(&value),
        (Some(_), Some(_)) => None,
    };
    let invalid = || {
        Problem::new(ErrorStatus::BAD_REQUEST)
            .with_detail(format!("the value of `{name}` is unknown, empty or repeated"))
    };
    chosen.map(Some).ok_or_else(invalid)
}

impl App {
    /// Parses `limit`, `after` and, for a list of the desk, `before`. A cursor must come from the
    /// same list, filters and caller.
    ///
    /// # Errors
    ///
    /// Returns 400 for a limit out of range, and for an invalid, expired or foreign cursor.
    pub(super) fn asked_page<P: Position>(
        &self,
        request: &Request<Bytes>,
        rules: PageRules,
        binding: CursorBinding,
    ) -> Result<AskedPage<'_, P>, Problem> {
        let query = request.uri().query();
        self.cursors
            .open_page(rules, query, binding, self.clock.now())
            .map_err(|refused| refused.problem(self.conventions.problems()))
    }
}

/// Page sizes of the desk's lists, which have cursors in both directions.
pub(super) fn rules_of_desk() -> PageRules {
    PageRules::default().with_before()
}

/// Renders a page of desk rows.
///
/// # Errors
///
/// See [`shown`].
pub(super) fn page_of_desk<T>(
    request: &Request<Bytes>,
    asked: &AskedPage<'_, i64>,
    rows: Vec<Placed<T>>,
    body: impl Fn(&T) -> Value,
) -> Handled {
    let page = asked.page(rows, |row| row.position);
    shown(request, page, |placed| body(&placed.row))
}

/// Renders a page with links to its neighbours.
///
/// # Errors
///
/// Never: the positions of this service fit into a cursor.
pub(super) fn shown<T>(
    request: &Request<Bytes>,
    page: Result<Page<T>, PositionTooLong>,
    body: impl Fn(&T) -> Value,
) -> Handled {
    let broken = || Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR);
    let page = page.map_err(|_| broken())?;
    let (path, query) = (request.uri().path(), request.uri().query());
    let links = page.links(path, query).map_err(|_| broken())?;
    let mut response = json(StatusCode::OK, &page.map(|row| body(&row)));
    links.apply(response.headers_mut());
    Ok(response)
}
