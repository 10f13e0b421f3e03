//! Address of the client of a request, for limits, attempts and audit events.

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
