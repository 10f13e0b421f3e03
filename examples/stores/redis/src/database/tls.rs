//! Crypto provider of TLS connections.

use rustls::crypto::aws_lc_rs;

/// Makes aws-lc-rs the default provider of the process, unless it has one.
///
/// The client takes no provider as an argument. In a process with several providers and no default,
/// rustls panics on its first connection.
pub(super) fn ensure_provider() {
    // an error means that there is one
    aws_lc_rs::default_provider().install_default().ok();
}
