//! Which certificates callers connect with.

use bytes::Bytes;
use host_tls::PeerCertificate;
use http::Request;
use oauth_core::mtls::ClientCertificate;

/// Says which certificate a request's connection was made with, as the adapter has it from TLS, for whoever binds tokens to it or
/// knows clients by it. No header ever becomes one.
pub(super) fn note_certificate(request: &mut Request<Bytes>) {
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
    // one whose names cannot be read is worth its thumbprint, whoever signed it
    verified.unwrap_or_else(|| ClientCertificate::from_der(der))
}
