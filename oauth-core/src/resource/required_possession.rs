//! APIs that a token alone does not open.

use std::sync::Arc;

use super::ResourceServer;
use crate::vocabulary::Confirmation;

/// What the sender of each token has to have beside it, so that a token that was stolen opens nothing.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RequiredPossession {
    /// A key, with a proof of it: DPoP, [RFC 9449](https://www.rfc-editor.org/rfc/rfc9449).
    Key,
    /// A certificate, shown by mutual TLS, [RFC 8705 §3](https://www.rfc-editor.org/rfc/rfc8705#section-3).
    Certificate,
    /// Either of the two.
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
    /// Takes no token that is bound to nothing, or to something else than this. The [metadata](Self::metadata) say so, and challenges are
    /// of the schemes alone that help.
    ///
    /// A key can be proven where [`with_dpop`](Self::with_dpop) says where the API is; without it [`RequiredPossession::Key`] lets
    /// nobody pass. A certificate is what the host puts into the extensions of the request
    /// ([`ClientCertificate`](crate::mtls::ClientCertificate)).
    #[must_use]
    pub fn with_required_possession(mut self, required: RequiredPossession) -> Self {
        self.required = Some(required);
        self.with_schemes_on_offer()
    }

    /// Has the challenges name what there is.
    pub(super) fn with_schemes_on_offer(mut self) -> Self {
        let realm = Arc::make_mut(&mut self.realm);
        realm.takes_proofs =
            self.possession.is_some() && self.required != Some(RequiredPossession::Certificate);
        realm.takes_bearer = self.required != Some(RequiredPossession::Key);
        self
    }
}
