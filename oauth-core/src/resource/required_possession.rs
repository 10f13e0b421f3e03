//! Required binding of tokens, for APIs that refuse bearer tokens.

use std::sync::Arc;

use super::ResourceServer;
use crate::vocabulary::Confirmation;

/// Binding that a resource server requires of all tokens, so that a stolen token is useless.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RequiredPossession {
    /// DPoP key, with a proof in each request, [RFC 9449](https://www.rfc-editor.org/rfc/rfc9449).
    Key,
    /// Client certificate of the mutual TLS connection, [RFC 8705
    /// §3](https://www.rfc-editor.org/rfc/rfc8705#section-3).
    Certificate,
    /// A DPoP key or a client certificate.
    KeyOrCertificate,
}

impl RequiredPossession {
    pub(super) const fn is_met_by(self, confirmation: Option<Confirmation>) -> bool {
        match confirmation {
            Some(Confirmation::Jkt(_)) => !matches!(self, Self::Certificate),
            Some(Confirmation::Certificate(_)) => !matches!(self, Self::Key),
            None => false,
        }
    }
}

impl ResourceServer {
    /// Refuses tokens without this binding. The [metadata](Self::metadata) and the challenges then
    /// name only the accepted schemes.
    ///
    /// [`RequiredPossession::Key`] needs [`with_dpop`](Self::with_dpop); without it all tokens are
    /// refused. For certificates the host must put a
    /// [`ClientCertificate`](crate::mtls::ClientCertificate) into the extensions of each request.
    #[must_use]
    pub fn with_required_possession(mut self, required: RequiredPossession) -> Self {
        self.required = Some(required);
        self.with_schemes_on_offer()
    }

    /// Updates the schemes that the challenges offer.
    pub(super) fn with_schemes_on_offer(mut self) -> Self {
        let realm = Arc::make_mut(&mut self.realm);
        realm.takes_proofs =
            self.possession.is_some() && self.required != Some(RequiredPossession::Certificate);
        realm.takes_bearer = self.required != Some(RequiredPossession::Key);
        self
    }
}
