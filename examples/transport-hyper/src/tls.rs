//! The client side of TLS, with everything chosen here and nothing process-wide.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs};
use tokio_rustls::TlsConnector;

/// Mozilla's roots, as of the `webpki-roots` release in the lock file.
pub(crate) fn mozilla_roots() -> RootCertStore {
    RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    }
}

pub(crate) fn connector(roots: RootCertStore) -> TlsConnector {
    // another crate's choice of a default provider must not reach in here, nor its absence make this panic
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    #[expect(clippy::expect_used, reason = "the versions are rustls's own defaults")]
    let builder = builder
        .with_safe_default_protocol_versions()
        .expect("the provider speaks TLS 1.2 and 1.3");
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
}
