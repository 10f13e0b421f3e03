//! The query parameters `limit`, `after` and `before`.

use crate::errors::{Problem, ProblemBase, types};

/// Page sizes of a collection, and the page parameters that it accepts.
///
/// ```
/// use http_conventions::paging::PageRules;
///
/// let rules = PageRules::default();
/// assert_eq!(rules.parse(None)?.limit.get(), 20);
/// assert_eq!(rules.parse(Some("limit=100&status=paid"))?.limit.get(), 100);
/// assert!(rules.parse(Some("limit=101")).is_err());
/// # Ok::<(), http_conventions::paging::InvalidPageRequest>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PageRules {
    default: u16,
    max: u16,
    walks_back: bool,
}

impl Default for PageRules {
    /// Defaults: 20 rows per page, at most 100, and `before` is ignored.
    fn default() -> Self {
        Self {
            default: 20,
            max: 100,
            walks_back: false,
        }
    }
}

impl PageRules {
    /// Sets the default and the maximum page size.
    ///
    /// # Errors
    ///
    /// [`InvalidPageRules`] unless 1 ≤ `default` ≤ `max`.
    pub const fn new(default: u16, max: u16) -> Result<Self, InvalidPageRules> {
        if default == 0 || default > max {
            Err(InvalidPageRules)
        } else {
            Ok(Self {
                default,
                max,
                walks_back: false,
            })
        }
    }

    /// Also accepts `before`. Use it if the host can fetch rows in reverse order. By default
    /// `before` is ignored.
    #[must_use]
    pub const fn with_before(mut self) -> Self {
        self.walks_back = true;
        self
    }

    pub(crate) const fn walks_back(self) -> bool {
        self.walks_back
    }

    /// Default page size in rows.
    pub(crate) const fn default_limit(self) -> u16 {
        self.default
    }

    /// Maximum page size in rows.
    pub(crate) const fn max(self) -> u16 {
        self.max
    }

    /// Parses the page parameters of a query; ignores all other parameters.
    ///
    /// # Errors
    ///
    /// [`InvalidPageRequest`] if
    ///
    /// - `limit` is not a number from 1 to the maximum,
    /// - `after` or `before` is empty,
    /// - a parameter is repeated,
    /// - both `after` and `before` are present.
    pub fn parse(&self, query: Option<&str>) -> Result<PageRequest, InvalidPageRequest> {
        let (mut limit, mut after, mut before) = (None, None, None);
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match name.as_ref() {
                "limit" => once(&mut limit, self.limit(&value)?, "limit")?,
                "after" => once(&mut after, cursor(&value, "after")?, "after")?,
                "before" if self.walks_back => once(&mut before, cursor(&value, "before")?, "before")?,
                _ => {}
            }
        }
        if after.is_some() && before.is_some() {
            return Err(InvalidPageRequest { parameter: "before" });
        }
        Ok(PageRequest {
            limit: limit.unwrap_or(Limit(self.default)),
            after,
            before,
        })
    }

    fn limit(&self, value: &str) -> Result<Limit, InvalidPageRequest> {
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
        match value.parse() {
            Ok(limit) if is_number && (1..=self.max).contains(&limit) => Ok(Limit(limit)),
            _ => Err(InvalidPageRequest { parameter: "limit" }),
        }
    }
}

fn cursor(value: &str, parameter: &'static str) -> Result<String, InvalidPageRequest> {
    match value {
        "" => Err(InvalidPageRequest { parameter }),
        value => Ok(value.to_owned()),
    }
}

fn once<T>(slot: &mut Option<T>, value: T, parameter: &'static str) -> Result<(), InvalidPageRequest> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(InvalidPageRequest { parameter }),
    }
}

/// Maximum number of rows of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limit(u16);

impl Limit {
    /// Number of rows.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Number of rows to fetch: one more than the page has, to detect a next page.
    #[must_use]
    pub const fn fetch(self) -> usize {
        self.0 as usize + 1
    }
}

/// Parsed page parameters. The cursor is not verified yet.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PageRequest {
    /// Maximum number of rows.
    pub limit: Limit,
    /// Cursor after which the page starts.
    pub after: Option<String>,
    /// Cursor before which the page ends; never together with `after`. If both are absent, the
    /// request is for the first page.
    pub before: Option<String>,
}

/// Error for a page parameter that is malformed, out of range or repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid page parameter {parameter}")]
pub struct InvalidPageRequest {
    parameter: &'static str,
}

impl InvalidPageRequest {
    /// Creates the 400 problem. Its extension `parameter` names the parameter.
    #[must_use]
    pub fn problem(&self, base: &ProblemBase) -> Problem {
        types::INVALID_PAGE_REQUEST
            .problem(base)
            .with_extension("parameter", self.parameter)
    }
}

/// Error for a default page size that is zero or above the maximum.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid page sizes")]
pub struct InvalidPageRules;
