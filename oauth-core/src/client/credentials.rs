//! How a client proves to be itself, [RFC 6749 §2.3](https://www.rfc-editor.org/rfc/rfc6749#section-2.3).

use std::time::SystemTime;

use http::HeaderValue;

use super::form::Form;
use crate::basic::BasicCredentials;
use crate::jose::{ClientAssertion, SigningError, SigningKey};
use crate::ports::Entropy;
use crate::secret::ClientSecret;
use crate::vocabulary::{ClientId, Issuer};

/// How a client proves to be itself where it asks a server directly: for tokens, with a pushed request, at a revocation; for an
/// API, what a token is worth ([`Introspection::of_client`](crate::resource::Introspection::of_client)).
///
/// They are those of one client at one server, and a [`Client`](super::Client) sends them nowhere else.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum ClientCredentials {
    /// A public client proves nothing: PKCE alone ties the code to it.
    None,
    /// `client_secret_basic`: in the `Authorization` header.
    Basic(ClientSecret),
    /// `client_secret_post`: in the form.
    Post(ClientSecret),
    /// `private_key_jwt`, [RFC 7523 §2.2](https://www.rfc-editor.org/rfc/rfc7523#section-2.2): no secret that the server could
    /// lose. Each request carries an assertion of its own, for this server alone and of one minute.
    PrivateKey(SigningKey),
    /// `tls_client_auth` and `self_signed_tls_client_auth`, [RFC 8705 §2](https://www.rfc-editor.org/rfc/rfc8705#section-2): the
    /// [`Transport`](crate::ports::Transport) shows the certificate, and requests go where the server wants to see one.
    Certificate,
}

impl ClientCredentials {
    /// Adds to a form what proves who sends it; the header that does, where it is one. Made anew for each request: an assertion is
    /// taken once.
    pub(crate) fn prove(
        &self,
        form: &mut Form,
        client_id: &ClientId,
        issuer: &Issuer,
        (entropy, now): (&dyn Entropy, SystemTime),
    ) -> Result<Option<HeaderValue>, SigningError> {
        if let Self::Basic(secret) = self {
            let credentials = BasicCredentials {
                client_id: client_id.clone(),
                secret: secret.clone(),
            };
            return Ok(Some(credentials.to_header()));
        }
        form.add_once("client_id", client_id.as_str());
        match self {
            Self::Post(secret) => form.add("client_secret", secret.expose()),
            Self::PrivateKey(key) => {
                let assertion = ClientAssertion::new(client_id.clone(), entropy, now).sign(key, issuer)?;
                form.add("client_assertion_type", ClientAssertion::TYPE);
                form.add("client_assertion", assertion.expose());
            }
            Self::None | Self::Basic(_) | Self::Certificate => {}
        }
        Ok(None)
    }
}
