//! The client side of TLS, without a process-wide provider.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, Error, RootCertStore};
use tokio_rustls::TlsConnector;

/// The name of HTTP/2 in ALPN ([RFC 9113
/// §3.1](https://www.rfc-editor.org/rfc/rfc9113#section-3.1)).
pub(crate) const HTTP_2: &[u8] = b"h2";

/// Trusted roots, and the client certificate for servers that request one.
#[derive(Clone)]
pub(crate) struct Trust {
    pub(crate) roots: RootCertStore,
    pub(crate) own: Option<Arc<SingleCertAndKey>>,
}

impl Trust {
    /// Mozilla's roots, as of the `webpki-roots` release in the lock file, without a client
    /// certificate.
    pub(crate) fn mozilla() -> Self {
        let roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        Self { roots, own: None }
    }

    pub(crate) fn connector(&self) -> TlsConnector {
        let builder = ClientConfig::builder_with_provider(provider());
        #[expect(clippy::expect_used, reason = "the versions are rustls's own defaults")]
        let builder = builder
            .with_safe_default_protocol_versions()
            .expect("the provider speaks TLS 1.2 and 1.3");
        let builder = builder.with_root_certificates(self.roots.clone());
        let mut config = match &self.own {
            Some(own) => builder.with_client_cert_resolver(Arc::<SingleCertAndKey>::clone(own)),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![HTTP_2.to_vec(), b"http/1.1".to_vec()];
        TlsConnector::from(Arc::new(config))
    }
}

/// A certificate with its chain and its private key.
pub(crate) fn certified(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<SingleCertAndKey>, Error> {
    let certified = CertifiedKey::from_der(chain, key, &provider())?;
    Ok(Arc::new(SingleCertAndKey::from(certified)))
}

/// Independent of the process-wide provider, which may be absent.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}
