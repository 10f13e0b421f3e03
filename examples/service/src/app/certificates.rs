//! Client certificates of connections (mutual TLS).

use bytes::Bytes;
use host_tls::PeerCertificate;
use http::Request;
use oauth_core::mtls::ClientCertificate;

/// Copies the certificate that the adapter took from TLS to the request extensions of oauth-core.
/// No header is trusted.
pub(super) fn record_certificate(request: &mut Request<Bytes>) {
    let certificate = request.extensions().get().map(of_client);
    if let Some(certificate) = certificate {
        request.extensions_mut().insert(certificate);
    }
}

fn of_client(peer: &PeerCertificate) -> ClientCertificate {
    let (der, verified) = match peer {
        PeerCertificate::Verified(der) => (der, ClientCertificate::from_verified_der(der).ok()),
        PeerCertificate::Unverified(der) => (der, None),
    };
    // a certificate with unreadable names still has a thumbprint
    verified.unwrap_or_else(|| ClientCertificate::from_der(der))
}
