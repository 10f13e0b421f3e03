//! Client authentication, [RFC 6749 §2.3](https://www.rfc-editor.org/rfc/rfc6749#section-2.3).

use std::time::SystemTime;

use http::HeaderValue;

use super::form::Form;
use crate::basic::BasicCredentials;
use crate::jose::{ClientAssertion, SigningError, SigningKey};
use crate::ports::Entropy;
use crate::secret::ClientSecret;
use crate::vocabulary::{ClientId, Issuer};

/// Client authentication for direct requests: token requests, pushed requests and revocation, and
/// introspection by an API
/// ([`Introspection::of_client`](crate::resource::Introspection::of_client)).
///
/// The credentials belong to one client at one server. A [`Client`](super::Client) sends them to no
/// other server.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum ClientCredentials {
    /// A public client without authentication. Only PKCE binds the code to the client.
    None,
    /// `client_secret_basic`: in the `Authorization` header.
    Basic(ClientSecret),
    /// `client_secret_post`: in the form.
    Post(ClientSecret),
    /// `private_key_jwt`, [RFC 7523 §2.2](https://www.rfc-editor.org/rfc/rfc7523#section-2.2): the
    /// server stores only the public key. Each request carries a new assertion, valid for one
    /// minute and for this server only.
    PrivateKey(SigningKey),
    /// `tls_client_auth` and `self_signed_tls_client_auth`, [RFC 8705
    /// §2](https://www.rfc-editor.org/rfc/rfc8705#section-2): the
    /// [`Transport`](crate::ports::Transport) presents the certificate. Requests go to the server's
    /// mTLS endpoint aliases.
    Certificate,
}

impl ClientCredentials {
    /// Adds the authentication to a form, and returns the `Authorization` header if there is one.
    /// Called for each request, because an assertion is accepted once.
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
