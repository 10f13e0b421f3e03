//! Preflights, and the headers of every other answer.

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

/// Who may read an answer. Found when the request is looked at, and written when its answer is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reader {
    /// Pages of any origin.
    Anyone,
    /// Pages of the origin at this place of the list.
    Listed(usize),
    /// No page.
    Nobody,
}

/// Rules that were checked, in the form they are sent in. Made by [`CorsRules::build`].
#[derive(Clone, Debug)]
pub struct Cors {
    /// None where any is allowed.
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
                // each is of the characters of an origin
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

    /// The 204 that answers a preflight: an OPTIONS with `Origin` and `Access-Control-Request-Method`. Any other request is none,
    /// an OPTIONS that asks for the methods of a resource above all, and goes its way.
    ///
    /// To be asked before the caller is: a preflight never has credentials. Where the origin is not allowed the answer says
    /// nothing of it, and the browser sends no request.
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

    /// Sets what every answer has but those to preflights: errors and the 304 too, or the page could not read why it was refused.
    ///
    /// `Vary: Origin` is there whatever the request, one without `Origin` included, as a cache would else hand its answer to a
    /// page; only where any origin is allowed is the answer the same for all, and does not vary.
    pub fn apply(&self, request: &HeaderMap, answer: &mut HeaderMap) {
        self.vary().apply(answer);
        self.apply_for(self.reader(request), answer);
    }

    /// What the answers to all requests vary by.
    pub(crate) fn vary(&self) -> Vary {
        let mut vary = Vary::default();
        if self.origins.is_some() {
            vary.add(ORIGIN);
        }
        vary
    }

    /// [`apply`](Self::apply) without [`vary`](Self::vary), for a request that was looked at before.
    pub(crate) fn apply_for(&self, reader: Reader, answer: &mut HeaderMap) {
        if self.allow_origin(reader, answer) {
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, self.exposed_headers.clone());
        }
    }

    /// Who may read the answer to this request.
    pub(crate) fn reader(&self, request: &HeaderMap) -> Reader {
        let Some(origins) = &self.origins else {
            return Reader::Anyone;
        };
        let sent = single_value(request, &ORIGIN);
        let listed = origins.iter().position(|origin| Some(origin) == sent);
        listed.map_or(Reader::Nobody, Reader::Listed)
    }

    /// Says whether the origin may read the answer, in the answer too; and takes back what a handler may have said of it.
    fn allow_origin(&self, reader: Reader, answer: &mut HeaderMap) -> bool {
        answer.remove(ACCESS_CONTROL_ALLOW_CREDENTIALS);
        let Some(origins) = &self.origins else {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            return true;
        };
        let listed = match reader {
            Reader::Listed(place) => origins.get(place),
            Reader::Anyone | Reader::Nobody => None,
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
