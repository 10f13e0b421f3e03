//! Pages of a list: what a request asks for, and the envelope that answers it.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::paging::{AskedPage, CursorBinding, Page, PageRules, Position, PositionTooLong};
use serde_json::Value;

use super::body::json;
use super::{App, Handled};
use crate::desk::{Order, Placed, Window};

/// The rows of the desk that a page needs.
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

/// The first value of a query parameter; empty is absent.
pub(super) fn query_parameter(request: &Request<Bytes>, name: &str) -> Option<String> {
    let query = request.uri().query()?.as_bytes();
    let (_, value) = form_urlencoded::parse(query).find(|(found, _)| found == name)?;
    (!value.is_empty()).then(|| value.into_owned())
}

/// What a parameter of the query chooses of a list, if it is there.
///
/// # Errors
///
/// 400 for a value that there is not, none at all included, and for more than one.
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
    let invalid =
        || Problem::new(ErrorStatus::BAD_REQUEST).with_detail(format!("`{name}` has no such value"));
    chosen.map(Some).ok_or_else(invalid)
}

impl App {
    /// Reads `limit`, `after` and, of a list of the desk, `before`; the cursor must be one of this list, with these filters, for
    /// this caller.
    ///
    /// # Errors
    ///
    /// 400 for a limit out of range, and for a cursor that is not one, expired, or of another list.
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

/// The page sizes of the desk's lists, which can be walked both ways.
pub(super) fn rules_of_desk() -> PageRules {
    PageRules::default().with_before()
}

/// The page of rows of the desk.
///
/// # Errors
///
/// As [`shown`].
pub(super) fn page_of_desk<T>(
    request: &Request<Bytes>,
    asked: &AskedPage<'_, i64>,
    rows: Vec<Placed<T>>,
    body: impl Fn(&T) -> Value,
) -> Handled {
    let page = asked.page(rows, |row| row.position);
    shown(request, page, |placed| body(&placed.row))
}

/// The envelope of a page, with links to its neighbours.
///
/// # Errors
///
/// Never for the positions of this service, which fit a cursor.
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
