//! Preflight responses and the CORS headers of all other responses.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
        ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
        ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
    },
};

use super::rules::{CorsRules, Origins, list};
use crate::{caching::Vary, single_value};

const REQUEST_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");
const TRUE: HeaderValue = HeaderValue::from_static("true");

/// Origin that may read a response: determined from the request, applied to the response.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reader {
    /// Pages of any origin.
    AnyOrigin,
    /// Pages of the listed origin at this index.
    Listed(usize),
    /// No page.
    NoOrigin,
}

/// Validated CORS rules with prepared header values. Created by [`CorsRules::build`].
#[derive(Clone, Debug)]
pub struct Cors {
    /// `None` allows any origin.
    origins: Option<Vec<HeaderValue>>,
    methods: HeaderValue,
    request_headers: HeaderValue,
    exposed_headers: HeaderValue,
    max_age: HeaderValue,
    allows_credentials: bool,
    allows_private_network: bool,
}

impl Cors {
    pub(super) fn of(rules: &CorsRules) -> Self {
        let origins = match &rules.origins {
            Origins::Any => None,
            Origins::Listed(origins) => {
                let null = rules.allows_null.then_some("null");
                let listed = origins.iter().map(String::as_str).chain(null);
                // valid origins are valid field values
                Some(
                    listed
                        .filter_map(|origin| HeaderValue::from_str(origin).ok())
                        .collect(),
                )
            }
        };
        Self {
            origins,
            methods: list(rules.methods.iter().map(Method::as_str)),
            request_headers: list(rules.request_headers.iter().map(HeaderName::as_str)),
            exposed_headers: list(rules.exposed_headers.iter().map(HeaderName::as_str)),
            max_age: HeaderValue::from(rules.max_age.as_secs()),
            allows_credentials: rules.allows_credentials,
            allows_private_network: rules.allows_private_network,
        }
    }

    /// Creates the 204 response to a preflight; `None` for any other request.
    ///
    /// A preflight is an OPTIONS request with `Origin` and `Access-Control-Request-Method`. Other
    /// OPTIONS requests go to the handler.
    ///
    /// # Contract
    ///
    /// - Call it before authentication: a preflight never has credentials.
    /// - If the origin is not allowed, the response has no CORS headers, and the browser does not
    ///   send the request.
    #[must_use]
    pub fn preflight(&self, method: &Method, request: &HeaderMap) -> Option<Response<Bytes>> {
        let is_preflight = *method == Method::OPTIONS
            && request.contains_key(ORIGIN)
            && request.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if !is_preflight {
            return None;
        }
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        self.vary().apply(headers);
        if self.allow_origin(self.reader(request), headers) {
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, self.methods.clone());
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, self.request_headers.clone());
            headers.insert(ACCESS_CONTROL_MAX_AGE, self.max_age.clone());
            let asks = single_value(request, &REQUEST_PRIVATE_NETWORK) == Some(&TRUE);
            if self.allows_private_network && asks {
                headers.insert(ALLOW_PRIVATE_NETWORK, TRUE);
            }
        }
        Some(response)
    }

    /// Sets the CORS headers of a response that is not a preflight response.
    ///
    /// # Contract
    ///
    /// - Call it for every response, including errors and 304. Otherwise the page cannot read the
    ///   error.
    /// - For an allowed origin, `Access-Control-Expose-Headers` is replaced by the names of the
    ///   rules.
    /// - If only listed origins are allowed, every response gets `Vary: Origin`, even if the
    ///   request has no `Origin`. Otherwise a cache could send a page the response for another
    ///   origin.
    pub fn apply(&self, request: &HeaderMap, answer: &mut HeaderMap) {
        self.vary().apply(answer);
        self.apply_for(self.reader(request), answer);
    }

    /// `Vary` of all responses.
    pub(crate) fn vary(&self) -> Vary {
        let mut vary = Vary::default();
        if self.origins.is_some() {
            vary.add(ORIGIN);
        }
        vary
    }

    /// [`apply`](Self::apply) without [`vary`](Self::vary), for a reader that was determined
    /// before.
    pub(crate) fn apply_for(&self, reader: Reader, answer: &mut HeaderMap) {
        if self.allow_origin(reader, answer) {
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, self.exposed_headers.clone());
        }
    }

    /// Determines which origin may read the response to this request.
    pub(crate) fn reader(&self, request: &HeaderMap) -> Reader {
        let Some(origins) = &self.origins else {
            return Reader::AnyOrigin;
        };
        let sent = single_value(request, &ORIGIN);
        let listed = origins.iter().position(|origin| Some(origin) == sent);
        listed.map_or(Reader::NoOrigin, Reader::Listed)
    }

    /// Sets or removes the origin and credentials headers; returns whether the origin may read the
    /// response.
    ///
    /// Removes values that a handler set.
    fn allow_origin(&self, reader: Reader, answer: &mut HeaderMap) -> bool {
        answer.remove(ACCESS_CONTROL_ALLOW_CREDENTIALS);
        let Some(origins) = &self.origins else {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            return true;
        };
        let listed = match reader {
            Reader::Listed(place) => origins.get(place),
            Reader::AnyOrigin | Reader::NoOrigin => None,
        };
        let Some(origin) = listed else {
            answer.remove(ACCESS_CONTROL_ALLOW_ORIGIN);
            return false;
        };
        answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        if self.allows_credentials {
            answer.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, TRUE);
        }
        true
    }
}
