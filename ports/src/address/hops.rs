//! Follows redirects under the address policy.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Method, Request, Response, StatusCode,
    header::{
        ACCEPT, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_LOCATION,
        CONTENT_TYPE, EXPECT, LOCATION, TRAILER, TRANSFER_ENCODING, USER_AGENT,
    },
};
use url::Url;

use super::{AddressPolicy, RefusedAddress, Target};

/// Request headers that another origin receives; all others may be credentials.
const HARMLESS: [HeaderName; 3] = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT];
/// Headers that describe a body or its transfer. They are removed together with the body.
const OF_THE_BODY: [HeaderName; 11] = [
    CONTENT_ENCODING,
    CONTENT_LANGUAGE,
    CONTENT_LENGTH,
    CONTENT_LOCATION,
    CONTENT_TYPE,
    EXPECT,
    TRAILER,
    TRANSFER_ENCODING,
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("digest"),
    HeaderName::from_static("repr-digest"),
];

/// Follows the redirects of one request: at most three, and the policy checks each target.
///
/// A webhook receiver uses `Hops` to fetch a URL from a payload. The sender of webhook-core follows
/// no redirects.
///
/// # Contract
///
/// - [`follow`](Self::follow) checks each target with [`AddressPolicy::vet`]. The transport checks
///   the resolved addresses with [`AddressPolicy::vet_resolved`], as for every request.
/// - A redirect from `https` to `http` is refused, even if the policy allows `http`.
/// - Another origin receives only the headers `Accept`, `Accept-Language` and `User-Agent`: no
///   credentials and no body.
/// - 303 changes the method to `GET` (`HEAD` stays). 301 and 302 change `POST` to `GET`. 307 and
///   308 keep method and body.
/// - A change of the method removes the body and the headers that describe it, including
///   `Content-Length` ([RFC 9110 §15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4)).
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use host_ports::address::{AddressPolicy, Hops, RefusedHop};
/// use http::{Request, Response};
///
/// let mut hops = Hops::new(AddressPolicy::new());
/// let request = Request::get("https://files.example.com/a")
///     .header("authorization", "Bearer t")
///     .body(Bytes::new())?;
/// let moved = |to: &str| {
///     Response::builder()
///         .status(302)
///         .header("location", to)
///         .body(Bytes::new())
/// };
///
/// let next = hops
///     .follow(&request, &moved("https://cdn.example.net/b")?)?
///     .expect("a redirect");
/// assert_eq!(next.uri(), "https://cdn.example.net/b");
/// assert!(!next.headers().contains_key("authorization"));
/// assert!(matches!(
///     hops.follow(&next, &moved("https://169.254.169.254/")?),
///     Err(RefusedHop::Address(_))
/// ));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hops {
    policy: AddressPolicy,
    taken: usize,
}

/// Reason not to follow a redirect.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RefusedHop {
    /// Three redirects were already followed.
    #[error("more than three redirects")]
    TooMany,
    /// The response has several `Location` fields, or `Location` is not a URL.
    #[error("the location of the redirect is not a URL")]
    InvalidLocation,
    /// The redirect leads from `https` to `http`.
    #[error("the redirect leads from https to http")]
    Downgrade,
    /// The redirect would send the body, or an unsafe method, to another origin.
    #[error("the redirect would carry the request to another origin")]
    OtherOrigin,
    /// The policy refuses the target.
    #[error("the target of the redirect is refused")]
    Address(#[source] RefusedAddress),
}

impl Hops {
    /// Maximum number of redirects of one request.
    pub const MAX: usize = 3;

    /// Starts the redirects of a new request, to be checked with `policy`.
    #[must_use]
    pub fn new(policy: AddressPolicy) -> Self {
        Self { policy, taken: 0 }
    }

    /// Returns the next request if `response` is a redirect; `None` if it is the final response.
    ///
    /// # Errors
    ///
    /// [`RefusedHop`] if the redirect must not be followed. The caller must then fail the whole
    /// fetch.
    pub fn follow(
        &mut self,
        request: &Request<Bytes>,
        response: &Response<Bytes>,
    ) -> Result<Option<Request<Bytes>>, RefusedHop> {
        let Some(location) = location(response)? else {
            return Ok(None);
        };
        if self.taken == Self::MAX {
            return Err(RefusedHop::TooMany);
        }
        self.taken += 1;
        let from = self.vetted(&request.uri().to_string())?;
        let from = Url::parse(from.as_str()).map_err(|_| RefusedHop::InvalidLocation)?;
        let to = from.join(location).map_err(|_| RefusedHop::InvalidLocation)?;
        if from.scheme() == "https" && to.scheme() == "http" {
            return Err(RefusedHop::Downgrade);
        }
        let target = self.vetted(to.as_str())?;
        let same_origin = from.origin() == to.origin();
        redirected(request, response.status(), &target, same_origin).map(Some)
    }

    fn vetted(&self, url: &str) -> Result<Target, RefusedHop> {
        self.policy.vet(url).map_err(RefusedHop::Address)
    }
}

/// Target of a redirect; `None` if the response is not a redirect.
fn location(response: &Response<Bytes>) -> Result<Option<&str>, RefusedHop> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let mut locations = response.headers().get_all(LOCATION).iter();
    let Some(location) = locations.next() else {
        return Ok(None);
    };
    if locations.next().is_some() {
        return Err(RefusedHop::InvalidLocation);
    }
    location
        .to_str()
        .map(Some)
        .map_err(|_| RefusedHop::InvalidLocation)
}

/// Builds the redirected request without the headers and body that the target must not receive.
fn redirected(
    request: &Request<Bytes>,
    status: StatusCode,
    target: &Target,
    same_origin: bool,
) -> Result<Request<Bytes>, RefusedHop> {
    let mut next = request.clone();
    *next.uri_mut() = target.uri().clone();
    let method = method_after(request.method(), status);
    if method != request.method() {
        *next.method_mut() = method;
        *next.body_mut() = Bytes::new();
        for name in &OF_THE_BODY {
            next.headers_mut().remove(name);
        }
    }
    if !same_origin {
        if !next.method().is_safe() || !next.body().is_empty() {
            return Err(RefusedHop::OtherOrigin);
        }
        *next.headers_mut() = harmless(next.headers());
    }
    Ok(next)
}

fn method_after(method: &Method, status: StatusCode) -> Method {
    match (status, method) {
        (StatusCode::SEE_OTHER, &Method::HEAD) => Method::HEAD,
        (StatusCode::SEE_OTHER, _) | (StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND, &Method::POST) => {
            Method::GET
        }
        _ => method.clone(),
    }
}

fn harmless(headers: &HeaderMap) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| HARMLESS.contains(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}
