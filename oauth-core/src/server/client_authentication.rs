//! Client authentication, [RFC 6749 §2.3](https://www.rfc-editor.org/rfc/rfc6749#section-2.3): by
//! exactly one method.

use std::time::SystemTime;

use bytes::Bytes;
use http::Request;
use http::header::AUTHORIZATION;

use super::AuthorizationServer;
use super::client_assertion;
use super::endpoint_response::{Failure, Refused};
use crate::basic::BasicCredentials;
use crate::error::{ErrorCode, ErrorResponse, Reason};
use crate::event::AuthEventKind;
use crate::jose::ClientAssertion;
use crate::mtls::ClientCertificate;
use crate::params::Params;
use crate::secret::{ClientSecret, TokenHash};
use crate::store::{ClientAuthentication, ClientKeys, ClientKeysUri, ClientSecrets, RegisteredClient};
use crate::vocabulary::ClientId;

/// Credentials of a request, before verification.
struct Presented<'a> {
    client_id: ClientId,
    method: Method<'a>,
}

pub(super) enum Method<'a> {
    /// The request has only a `client_id`, and possibly a client certificate on its connection.
    /// With the other methods, the certificate does not authenticate the client. Whether tokens are
    /// bound to the certificate does not depend on the method.
    Name(Option<&'a ClientCertificate>),
    Basic(ClientSecret),
    Post(ClientSecret),
    Assertion(&'a str),
}

impl Method<'_> {
    const fn is(&self, registered: &ClientAuthentication) -> bool {
        use ClientAuthentication as Registered;
        matches!(
            (self, registered),
            (
                Self::Name(_),
                Registered::None | Registered::Tls(_) | Registered::SelfSignedTls(_)
            ) | (Self::Basic(_), Registered::SecretBasic(_))
                | (Self::Post(_), Registered::SecretPost(_))
                | (
                    Self::Assertion(_),
                    Registered::PrivateKeyJwt(_) | Registered::PrivateKeyJwtAt(_)
                )
        )
    }

    /// Returns `true` for credentials that an attacker can guess: secrets and assertions. A
    /// `client_id` with or without a certificate cannot be guessed.
    pub(super) const fn is_a_guess(&self) -> bool {
        !matches!(self, Self::Name(_))
    }

    const fn secret(&self) -> Option<&ClientSecret> {
        match self {
            Self::Name(_) | Self::Assertion(_) => None,
            Self::Basic(secret) | Self::Post(secret) => Some(secret),
        }
    }
}

impl AuthorizationServer {
    /// Authenticates the client of a request by its registered method.
    ///
    /// The credentials are verified first; then the rate limit decides the response. Above the
    /// limit, correct credentials are refused like wrong credentials. Requests with only a
    /// `client_id` are not counted.
    pub(super) async fn authenticate(
        &self,
        request: &Request<Bytes>,
        params: &Params,
        now: SystemTime,
    ) -> Result<RegisteredClient, Failure> {
        let Presented { client_id, method } = self.presented(request, params)?;
        let client = self.inner.clients.client(&client_id).await?;
        let fetched = match (client.as_ref().and_then(keys_uri), &method) {
            (Some(keys), Method::Assertion(assertion)) => Some(
                self.remotely_verified_assertion(assertion, &client_id, keys, now)
                    .await?,
            ),
            _ => None,
        };
        let verified = match (fetched, client) {
            (Some(fetched), Some(client)) => fetched.map(|assertion| (client, Some(assertion))),
            (_, client) => self.verify_credentials(client, &method, &client_id, now),
        };
        let (client, assertion) = match verified {
            Ok(authenticated) => {
                self.check_limit(request, &client_id, &method, now).await?;
                authenticated
            }
            Err(reason) => {
                self.count_failure(request, &client_id, &method, now).await?;
                return Err(self.invalid_client(reason, Some(client_id)));
            }
        };
        if let Some(assertion) = assertion {
            self.spend(&assertion, now).await?;
        }
        Ok(client)
    }

    /// Verifies the method and the credentials. The caller must then store the `jti` of the
    /// returned assertion.
    fn verify_credentials(
        &self,
        client: Option<RegisteredClient>,
        method: &Method<'_>,
        client_id: &ClientId,
        now: SystemTime,
    ) -> Result<(RegisteredClient, Option<ClientAssertion>), Reason> {
        let verified = verified(client, method, now);
        if let Method::Name(certificate) = method {
            let client = verified?;
            let certificates = &self.inner.options.certificates;
            certificates.admits(&client.authentication, *certificate, now)?;
            return Ok((client, None));
        }
        let Method::Assertion(assertion) = method else {
            return verified.map(|client| (client, None));
        };
        let keys = verified.as_ref().ok().and_then(keys);
        let assertion = self.verified_assertion(assertion, client_id, keys, now);
        let client = verified?;
        Ok((client, Some(assertion?)))
    }

    fn presented<'a>(
        &self,
        request: &'a Request<Bytes>,
        params: &'a Params,
    ) -> Result<Presented<'a>, Failure> {
        let headers = request.headers();
        let is_there = |name| params.optional(name).is_some();
        let by_secret = is_there("client_secret");
        let by_assertion = client_assertion::PARAMETERS.into_iter().any(is_there);
        let authorizations = headers.get_all(AUTHORIZATION).iter().count();
        if authorizations + usize::from(by_secret) + usize::from(by_assertion) > 1 {
            return Err(Failure::described(
                ErrorCode::InvalidRequest,
                Reason::SeveralClientAuthentications,
                "authenticate by exactly one method",
            ));
        }
        if let Some(header) = headers.get(AUTHORIZATION) {
            let credentials = BasicCredentials::parse(header)
                .map_err(|_| self.invalid_client(Reason::MalformedBasicCredentials, None))?;
            return with_basic(credentials, params);
        }
        if by_assertion {
            return self.with_assertion(params);
        }
        let client_id = params.optional("client_id").and_then(|id| id.parse().ok());
        let Some(client_id) = client_id else {
            return Err(self.invalid_client(Reason::ClientIdMissing, None));
        };
        let method = match params.optional("client_secret").map(str::parse) {
            None => Method::Name(request.extensions().get()),
            Some(Ok(secret)) => Method::Post(secret),
            Some(Err(_)) => return Err(self.invalid_client(Reason::MalformedClientSecret, Some(client_id))),
        };
        Ok(Presented { client_id, method })
    }

    /// Reads an assertion from the form. The form may omit `client_id`, but must not name another
    /// client than the assertion ([RFC 7521
    /// §4.2](https://www.rfc-editor.org/rfc/rfc7521#section-4.2)).
    fn with_assertion<'a>(&self, params: &'a Params) -> Result<Presented<'a>, Failure> {
        let named = || params.optional("client_id").and_then(|id| id.parse().ok());
        let (client_id, assertion) =
            client_assertion::read(params).map_err(|reason| self.invalid_client(reason, named()))?;
        agrees(params, &client_id)?;
        Ok(Presented {
            client_id,
            method: Method::Assertion(assertion),
        })
    }

    /// Refuses with `invalid_client` and status 401. The response is the same for all reasons, so
    /// that it does not reveal which clients exist.
    pub(super) fn invalid_client(&self, reason: Reason, client_id: Option<ClientId>) -> Failure {
        let response = ErrorResponse::new(ErrorCode::InvalidClient)
            .with_basic_challenge(&self.inner.issuer)
            .into_response();
        Failure::Refused(Refused {
            response: Box::new(response),
            kind: AuthEventKind::ClientAuthenticationFailed,
            reason,
            client_id,
        })
    }
}

/// Checks that `client_id` in the form, if present, names the client of the credentials.
fn agrees(params: &Params, client_id: &ClientId) -> Result<(), Failure> {
    if params
        .optional("client_id")
        .is_some_and(|id| id != client_id.as_str())
    {
        return Err(Failure::described(
            ErrorCode::InvalidRequest,
            Reason::ClientIdMismatch,
            "client_id differs from the authenticated client",
        ));
    }
    Ok(())
}

fn with_basic(credentials: BasicCredentials, params: &Params) -> Result<Presented<'_>, Failure> {
    let BasicCredentials { client_id, secret } = credentials;
    agrees(params, &client_id)?;
    Ok(Presented {
        client_id,
        method: Method::Basic(secret),
    })
}

/// Verifies the method and the secret. The caller verifies an assertion.
///
/// A secret is always hashed and compared, even for an unknown client or another method, so that
/// the response time reveals neither which clients exist nor their method.
fn verified(
    client: Option<RegisteredClient>,
    method: &Method<'_>,
    now: SystemTime,
) -> Result<RegisteredClient, Reason> {
    let dummy = ClientSecrets {
        current: TokenHash::from_bytes([0; 32]),
        previous: None,
    };
    let fitting = client
        .as_ref()
        .map(|client| &client.authentication)
        .filter(|registered| method.is(registered));
    let secrets = fitting.and_then(ClientAuthentication::secrets).unwrap_or(&dummy);
    let accepted = std::hint::black_box(method.secret().is_none_or(|secret| secrets.accept(secret, now)));
    let method_fits = fitting.is_some();
    match client {
        None => Err(Reason::ClientUnknown),
        Some(_) if !method_fits => Err(Reason::ClientAuthenticationMismatch),
        Some(_) if !accepted => Err(Reason::ClientSecretMismatch),
        Some(client) => Ok(client),
    }
}

const fn keys_uri(client: &RegisteredClient) -> Option<&ClientKeysUri> {
    match &client.authentication {
        ClientAuthentication::PrivateKeyJwtAt(keys) => Some(keys),
        _ => None,
    }
}

const fn keys(client: &RegisteredClient) -> Option<&ClientKeys> {
    match &client.authentication {
        ClientAuthentication::PrivateKeyJwt(keys) => Some(keys),
        _ => None,
    }
}
