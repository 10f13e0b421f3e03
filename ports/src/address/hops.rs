//! Redirects, for the few who may follow them.

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

/// What another origin is told of the request; everything else may be a credential.
const HARMLESS: [HeaderName; 3] = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT];
/// What describes a body, or how it is sent, and goes with it: a length without its body would have the server wait for one.
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

/// The redirects of one request, at most three, each target judged by the rules anew.
///
/// For a receiver that fetches a URL which it found in a payload. Deliveries follow no redirect.
///
/// - A target must pass [`AddressPolicy::vet`], and what its name resolves to [`AddressPolicy::vet_resolved`], as for any
///   other request.
/// - From `https` it does not go back to `http`, not even where the policy opens that.
/// - To another origin go `Accept`, `Accept-Language` and `User-Agent` alone: no credentials, and no body.
/// - 303 asks with `GET` (`HEAD` stays), 301 and 302 turn `POST` into `GET`, 307 and 308 keep method and body. A body that stays
///   behind takes the fields along that describe it, its length among them ([RFC 9110 §15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4)).
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use host_ports::address::{AddressPolicy, Hops, RefusedHop};
///
/// let mut hops = Hops::new(AddressPolicy::new());
/// let request = Request::get("https://files.example.com/a").header("authorization", "Bearer t").body(Bytes::new())?;
/// let moved = |to: &str| Response::builder().status(302).header("location", to).body(Bytes::new());
///
/// let next = hops.follow(&request, &moved("https://cdn.example.net/b")?)?.expect("a redirect");
/// assert_eq!(next.uri(), "https://cdn.example.net/b");
/// assert!(!next.headers().contains_key("authorization"));
/// assert!(matches!(hops.follow(&next, &moved("https://169.254.169.254/")?), Err(RefusedHop::Address(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hops {
    policy: AddressPolicy,
    taken: usize,
}

/// Why a redirect is not followed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RefusedHop {
    /// Three were followed already.
    #[error("more than three redirects")]
    TooMany,
    /// There are several `Location` fields, or the one is no URL.
    #[error("the location of the redirect is not a URL")]
    InvalidLocation,
    /// From `https` to `http`.
    #[error("the redirect leads from https to http")]
    Downgrade,
    /// It asks to send the body, or a method that changes something, to another origin.
    #[error("the redirect would carry the request to another origin")]
    OtherOrigin,
    /// The rules refuse the target.
    #[error("the target of the redirect is refused")]
    Address(#[source] RefusedAddress),
}

impl Hops {
    /// How many redirects of one request are followed.
    pub const MAX: usize = 3;

    /// None taken yet.
    #[must_use]
    pub fn new(policy: AddressPolicy) -> Self {
        Self { policy, taken: 0 }
    }

    /// The request to send next, if `response` to `request` is a redirect; `None` when it is the answer.
    ///
    /// # Errors
    ///
    /// When the redirect must not be followed. The whole fetch has then failed: its answer is not what was asked for.
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

/// Where the response leads, if it is a redirect that names a place.
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

/// The request as the redirect wants it, less what does not go along.
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
