//! Heads of requests and responses.

use bytes::Bytes;
use host_ports::TransportError;
use host_ports::address::Target;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, HeaderName, TE, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Request, Response, Uri, Version};
use http_body_util::Full;

/// Upper bound of the header fields of a response: names, values and four bytes for each field.
pub(crate) const MAX_FIELD_BYTES: usize = 64 * 1024;
/// Upper bound of the number of header fields of a response.
const MAX_FIELDS: usize = 100;

/// Fields that belong to a connection or to the framing of a message ([RFC 9110
/// §7.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1)).
const OF_CONNECTION: [HeaderName; 8] = [
    CONNECTION,
    CONTENT_LENGTH,
    HOST,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The request to the vetted target as HTTP/1.1: origin form and `Host`.
pub(crate) fn http1(
    request: &Request<Bytes>,
    target: &Target,
) -> Result<Request<Full<Bytes>>, TransportError> {
    let uri = target.uri();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let host = HeaderValue::from_str(authority).map_err(TransportError::other)?;
    let path = uri.path_and_query().cloned();
    let mut prepared = prepared(request, path.map_or_else(Uri::default, Uri::from));
    prepared.headers_mut().insert(HOST, host);
    *prepared.version_mut() = Version::HTTP_11;
    Ok(prepared)
}

/// The request to the vetted target as HTTP/2: the authority is a pseudo-header field.
pub(crate) fn http2(request: &Request<Bytes>, target: &Target) -> Request<Full<Bytes>> {
    let mut prepared = prepared(request, target.uri().clone());
    *prepared.version_mut() = Version::HTTP_2;
    prepared
}

fn prepared(request: &Request<Bytes>, uri: Uri) -> Request<Full<Bytes>> {
    let mut prepared = Request::new(Full::new(request.body().clone()));
    *prepared.method_mut() = request.method().clone();
    *prepared.uri_mut() = uri;
    let headers = prepared.headers_mut();
    headers.clone_from(request.headers());
    for name in OF_CONNECTION {
        headers.remove(name);
    }
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    prepared
}

/// Returns the response if its head is within the limits.
pub(crate) fn within_limits<B>(response: Response<B>) -> Result<Response<B>, TransportError> {
    let fields = response.headers();
    if fields.len() > MAX_FIELDS || size_of(fields) > MAX_FIELD_BYTES {
        return Err(TransportError::too_large());
    }
    Ok(response)
}

/// Size of the header fields on the wire: `name: value` and the line end.
fn size_of(fields: &HeaderMap) -> usize {
    let sizes = fields
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4);
    sizes.sum()
}
