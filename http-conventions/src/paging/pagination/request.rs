//! `limit`, `after` and `before`.

use crate::errors::{Problem, ProblemBase, types};

/// The page sizes of a collection.
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
    /// 20 rows unless asked for, and 100 at most.
    fn default() -> Self {
        Self {
            default: 20,
            max: 100,
            walks_back: false,
        }
    }
}

impl PageRules {
    /// Pages of this size by default, and of that size at most.
    ///
    /// # Errors
    ///
    /// Unless 1 ≤ `default` ≤ `max`.
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

    /// With `before` too, for a host that fetches backwards; without this it is a parameter like any other.
    #[must_use]
    pub const fn with_before(mut self) -> Self {
        self.walks_back = true;
        self
    }

    pub(crate) const fn walks_back(self) -> bool {
        self.walks_back
    }

    /// How many rows a page has unless asked for.
    pub(crate) const fn default_limit(self) -> u16 {
        self.default
    }

    /// How many rows a page has at most.
    pub(crate) const fn max(self) -> u16 {
        self.max
    }

    /// Reads the page parameters of a query; other parameters are the host's.
    ///
    /// # Errors
    ///
    /// When `limit` is not a number from 1 to the maximum, `after` or `before` is empty, one of them is repeated, or both of
    /// the latter are there.
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

/// How many rows a page has at most.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limit(u16);

impl Limit {
    /// The number of rows.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// How many rows to fetch: one more than the page has, to see whether there are more.
    #[must_use]
    pub const fn fetch(self) -> usize {
        self.0 as usize + 1
    }
}

/// The page a client asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PageRequest {
    /// How many rows it wants at most.
    pub limit: Limit,
    /// The cursor after which it goes on, not opened yet.
    pub after: Option<String>,
    /// The cursor before which it goes back, not opened yet; never beside the other. With neither it is the first page.
    pub before: Option<String>,
}

/// A page parameter is malformed, out of range or repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid page parameter {parameter}")]
pub struct InvalidPageRequest {
    parameter: &'static str,
}

impl InvalidPageRequest {
    /// The 400 to answer with; its extension `parameter` names the culprit.
    #[must_use]
    pub fn problem(&self, base: &ProblemBase) -> Problem {
        types::INVALID_PAGE_REQUEST
            .problem(base)
            .with_extension("parameter", self.parameter)
    }
}

/// The default page size is zero or above the maximum.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid page sizes")]
pub struct InvalidPageRules;
