//! Address of the client of a request, for limits, attempts, audit events and log lines.

use std::net::SocketAddr;

use bytes::Bytes;
use http::Request;
use http_conventions::forwarding::TrustedProxies;
use oauth_core::attempts::Source;
use oauth_core::server::RequestContext;

/// Replaces the peer of the connection by the client that the trusted proxies report, and records
/// it for attempts and events.
pub(super) fn record_client(proxies: &TrustedProxies, request: &mut Request<Bytes>, request_id: &str) {
    let mut context = RequestContext::new().with_request_id(request_id);
    let peer = request.extensions().get::<SocketAddr>().copied();
    if let Some(peer) = peer {
        let client = proxies.client_address(peer.ip(), request.headers());
        context = context.with_address(client);
        let extensions = request.extensions_mut();
        extensions.insert(SocketAddr::new(client, peer.port()));
        extensions.insert(Source::new(client));
    }
    request.extensions_mut().insert(context);
}

/// Address and request id for a log line: `from 203.0.113.7, request 0197f9a1`.
pub(super) fn describe_client(request: &Request<Bytes>) -> String {
    let context = request.extensions().get::<RequestContext>();
    let address = context.and_then(|context| context.address);
    let address = address.map_or_else(|| "an unknown address".to_owned(), |address| address.to_string());
    let id = context.and_then(|context| context.request_id.as_deref());
    format!("from {address}, request {}", id.unwrap_or("without id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H25: limits, attempts, events and log lines have the same address.
    #[test]
    fn client_behind_proxy_has_one_address() {
        let proxies = TrustedProxies::new().with_network("10.0.0.1").unwrap();
        let request = Request::get("/login").header("x-forwarded-for", "192.0.2.9, 203.0.113.7");
        let mut request = request.body(Bytes::new()).unwrap();
        assert_eq!(
            describe_client(&request),
            "from an unknown address, request without id"
        );
        request
            .extensions_mut()
            .insert(SocketAddr::from(([10, 0, 0, 1], 9)));
        record_client(&proxies, &mut request, "0197f9a1");
        assert_eq!(describe_client(&request), "from 203.0.113.7, request 0197f9a1");
        let client: SocketAddr = "203.0.113.7:9".parse().unwrap();
        let extensions = request.extensions();
        assert_eq!(extensions.get::<SocketAddr>(), Some(&client));
        assert_eq!(extensions.get::<Source>(), Some(&Source::new(client.ip())));
        let context = extensions.get::<RequestContext>().unwrap();
        assert_eq!(context.address, Some(client.ip()));
    }
}
