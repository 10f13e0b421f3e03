//! Shapes of the access tokens of common issuers.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::access_token::{AccessTokenClaims, AccessTokenPolicy};
use super::claims::{Audiences, NumericDate, Times};
use super::compact::Compact;
use super::jwt::JwtError;
use super::key_set::KeySet;
use crate::vocabulary::{AccessTokenTerms, Audience, ClientId, Confirmation, Scopes};

/// Claims of ID tokens and logout tokens, which no access token of a listed issuer has.
const FOREIGN: [&str; 5] = ["nonce", "at_hash", "c_hash", "s_hash", "events"];

/// Shape of the access tokens of an issuer: the accepted `typ`, and the claims that name client,
/// scopes, roles and tenant.
///
/// The default of a [`ResourceServer`](crate::resource::ResourceServer) is
/// [`rfc9068`](Self::rfc9068). Most issuers predate RFC 9068 and need their own profile.
///
/// # Security
///
/// - Each profile checks signature, issuer, audience and times. Only the tokens of Amazon Cognito
///   have no audience: there a list of clients takes its place.
/// - The accepted `typ` does not tell access tokens from ID tokens, so each profile refuses the ID
///   tokens of its issuer by their claims. [`custom`](Self::custom) states its limits.
///
/// ```
/// use oauth_core::jose::IssuerProfile;
/// use oauth_core::resource::ResourceServer;
/// # use oauth_core::jose::{KeySet, SigningKey};
/// # use oauth_core::ports::OsEntropy;
/// # let keys = KeySet::new([SigningKey::generate_es256(&OsEntropy)?.public_key().clone()])?;
/// let issuer = "https://sso.example/realms/shop".parse()?;
/// let api = ResourceServer::new(issuer, "https://api.example".parse()?, keys)
///     .with_issuer_profile(IssuerProfile::keycloak());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IssuerProfile {
    shape: Option<Shape>,
}

/// Differences to RFC 9068.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Shape {
    /// Accepted values of `typ` without `application/`; the empty text stands for an absent `typ`.
    types: &'static [&'static str],
    /// Claims that may name the client; the first one that is present counts.
    client: &'static [&'static str],
    /// Claims with scopes, as a text or a list; the first one that is present counts.
    scopes: &'static [&'static str],
    /// JSON pointer of the list of roles.
    roles: Option<Cow<'static, str>>,
    /// Claim with the tenant.
    tenant: Option<&'static str>,
    /// Claim that tells access tokens from other tokens, and its accepted values.
    mark: Option<(&'static str, &'static [&'static str])>,
    /// Claims of other issuers, by which their tokens are told apart.
    absent: &'static [&'static str],
    /// Clients whose tokens are accepted although they name no audience.
    clients: Option<Arc<[ClientId]>>,
    needs_audience_mapper: bool,
}

/// Claims of a token, with those that RFC 9068 does not define.
pub(crate) struct Profiled {
    pub(crate) claims: AccessTokenClaims,
    pub(crate) roles: Vec<String>,
    pub(crate) tenant: Option<String>,
}

impl IssuerProfile {
    /// Access tokens by [RFC 9068](https://www.rfc-editor.org/rfc/rfc9068): `typ` is `at+jwt`, and
    /// `client_id` and `jti` are mandatory.
    #[must_use]
    pub const fn rfc9068() -> Self {
        Self { shape: None }
    }

    /// Keycloak: the client is `azp`, the roles are those of the realm (`realm_access.roles`), and
    /// the claim `typ` is `Bearer` or `DPoP`.
    ///
    /// By default, the `aud` of Keycloak's tokens does not name the API. Add an *audience mapper*
    /// to a client scope; without it the error is [`JwtError::NoAudienceMapper`].
    #[must_use]
    pub const fn keycloak() -> Self {
        Self::of(Shape {
            types: &["JWT", "at+jwt"],
            client: &["azp", "client_id"],
            scopes: &["scope"],
            roles: Some(Cow::Borrowed("/realm_access/roles")),
            mark: Some(("typ", &["Bearer", "DPoP"])),
            needs_audience_mapper: true,
            ..Shape::EMPTY
        })
    }

    /// Keycloak, as [`keycloak`](Self::keycloak), with the roles of one client
    /// (`resource_access.<client>.roles`) in place of those of the realm. The client is usually the
    /// one that stands for the API.
    #[must_use]
    pub fn keycloak_client_roles(client: &ClientId) -> Self {
        // escapes of RFC 6901
        let client = client.as_str().replace('~', "~0").replace('/', "~1");
        let mut profile = Self::keycloak();
        if let Some(shape) = &mut profile.shape {
            shape.roles = Some(format!("/resource_access/{client}/roles").into());
        }
        profile
    }

    /// Auth0, with both of its token profiles: the client is `azp` or `client_id`. Permissions
    /// (role-based access control) are the roles.
    #[must_use]
    pub const fn auth0() -> Self {
        Self::of(Shape {
            types: &["JWT", "at+jwt"],
            client: &["azp", "client_id"],
            scopes: &["scope"],
            roles: Some(Cow::Borrowed("/permissions")),
            absent: &["typ", "ver", "token_use"],
            ..Shape::EMPTY
        })
    }

    /// Okta, custom authorization servers: the client is `cid`, and the scopes are the list `scp`.
    #[must_use]
    pub const fn okta() -> Self {
        Self::of(Shape {
            types: &["", "JWT", "at+jwt", "okta-internal-at+jwt"],
            client: &["cid"],
            scopes: &["scp"],
            roles: Some(Cow::Borrowed("/groups")),
            ..Shape::EMPTY
        })
    }

    /// Microsoft Entra ID, versions 1.0 and 2.0 of its tokens: the client is `azp` or `appid`, the
    /// scopes are the text `scp`, the roles are `roles`, and the tenant is `tid`.
    ///
    /// The issuer names one tenant, for example `https://login.microsoftonline.com/<tid>/v2.0`, or
    /// `https://sts.windows.net/<tid>/` in version 1.0.
    #[must_use]
    pub const fn entra_id() -> Self {
        Self::of(Shape {
            types: &["JWT"],
            client: &["azp", "appid"],
            scopes: &["scp"],
            roles: Some(Cow::Borrowed("/roles")),
            tenant: Some("tid"),
            mark: Some(("ver", &["1.0", "2.0"])),
            ..Shape::EMPTY
        })
    }

    /// Amazon Cognito: `token_use` is `access`, and the roles are `cognito:groups`.
    ///
    /// # Security
    ///
    /// Cognito's tokens name no audience, so every API of a user pool would accept them. The token
    /// of a client that is not in `clients` is refused. If a token names audiences, the API must be
    /// one of them, too.
    #[must_use]
    pub fn cognito(clients: impl IntoIterator<Item = ClientId>) -> Self {
        Self::of(Shape {
            types: &["", "JWT"],
            client: &["client_id"],
            scopes: &["scope"],
            roles: Some(Cow::Borrowed("/cognito:groups")),
            mark: Some(("token_use", &["access"])),
            clients: Some(clients.into_iter().collect()),
            ..Shape::EMPTY
        })
    }

    /// Another issuer: `typ` is `at+jwt`, `JWT` or absent, the client is `client_id`, `azp` or
    /// `cid`, and the scopes are `scope` or `scp`. It fits PingFederate, Zitadel, Ory Hydra, and
    /// the user tokens of Duende IdentityServer. Duende's machine tokens have no `sub` and are
    /// refused.
    ///
    /// # Security
    ///
    /// An ID token is refused if its audience is its client, which is the rule of OpenID Connect,
    /// or if it has `nonce`, `at_hash` or `c_hash`. Use this profile only for an API whose audience
    /// is not the identifier of a client.
    #[must_use]
    pub const fn custom() -> Self {
        Self::of(Shape {
            types: &["", "JWT", "at+jwt"],
            client: &["client_id", "azp", "cid"],
            scopes: &["scope", "scp"],
            roles: Some(Cow::Borrowed("/roles")),
            ..Shape::EMPTY
        })
    }

    const fn of(shape: Shape) -> Self {
        Self { shape: Some(shape) }
    }

    /// Verifies a token, but not the possession of the key to which it is bound.
    pub(crate) fn verify(
        &self,
        token: &str,
        keys: &KeySet,
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Result<Profiled, JwtError> {
        match &self.shape {
            Some(shape) => shape.verify(token, keys, policy, now),
            None => AccessTokenClaims::verify_rfc9068(token, keys, policy, now).map(|claims| Profiled {
                claims,
                roles: Vec::new(),
                tenant: None,
            }),
        }
    }
}

impl Shape {
    const EMPTY: Self = Self {
        types: &[],
        client: &[],
        scopes: &[],
        roles: None,
        tenant: None,
        mark: None,
        absent: &[],
        clients: None,
        needs_audience_mapper: false,
    };

    fn verify(
        &self,
        token: &str,
        keys: &KeySet,
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Result<Profiled, JwtError> {
        let token = Compact::parse(token)?;
        let key = token.select_key_of(keys, |typ| self.accepts(typ))?;
        let claims: Map<String, Value> = token.claims()?;
        let checked = self.check(claims, policy, now)?;
        token.verify(key)?;
        Ok(checked)
    }

    fn accepts(&self, typ: Option<&str>) -> bool {
        let typ = typ.unwrap_or_default();
        let (prefix, name) = typ.split_once('/').unwrap_or(("application", typ));
        let is_listed = self.types.iter().any(|listed| name.eq_ignore_ascii_case(listed));
        prefix.eq_ignore_ascii_case("application") && is_listed
    }

    fn check(
        &self,
        claims: Map<String, Value>,
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Result<Profiled, JwtError> {
        if text(&claims, "iss")? != policy.issuer().as_str() {
            return Err(JwtError::WrongIssuer);
        }
        let mut foreign = FOREIGN.iter().chain(self.absent);
        if foreign.any(|name| claims.contains_key(*name)) || !self.is_marked(&claims) {
            return Err(JwtError::WrongType);
        }
        let client = self.client.iter().find(|name| claims.contains_key(**name));
        // an ID token names no client beside its audience
        let client = text(&claims, client.ok_or(JwtError::WrongType)?)?;
        let client_id: ClientId = client.parse().map_err(|_| JwtError::Malformed)?;
        let audience = self.audience(&claims, &client_id, policy.audience())?;
        let date = |name| optional::<NumericDate>(&claims, name);
        let (issued_at, expires_at) = (date("iat")?, date("exp")?);
        let (Some(issued_at), Some(expires_at)) = (issued_at, expires_at) else {
            return Err(JwtError::Malformed);
        };
        let times = Times {
            expires_at,
            issued_at,
            not_before: date("nbf")?,
        };
        times.check(now, policy.leeway())?;
        let confirmation = claims.get("cnf").map(Confirmation::deserialize).transpose();
        let terms = AccessTokenTerms {
            client_id,
            subject: text(&claims, "sub")?.parse().map_err(|_| JwtError::Malformed)?,
            scopes: self.scopes(&claims)?,
            audience,
            // a confirmation method that this crate cannot check
            confirmation: confirmation.map_err(|_| JwtError::SenderConstrained)?,
            issued_at: issued_at.time(),
            expires_at: expires_at.time(),
        };
        let auth_time = date("auth_time")?.map(NumericDate::time);
        let jti: Option<String> = optional(&claims, "jti")?;
        let tenant = self.tenant.map(|name| optional(&claims, name)).transpose()?;
        let claims_value = Value::Object(claims);
        Ok(Profiled {
            roles: self.roles(&claims_value)?,
            tenant: tenant.flatten(),
            claims: AccessTokenClaims {
                issuer: policy.issuer().clone(),
                terms,
                jti: jti.unwrap_or_default(),
                auth_time,
            },
        })
    }

    fn is_marked(&self, claims: &Map<String, Value>) -> bool {
        self.mark.is_none_or(|(name, accepted)| {
            let value = claims.get(name).and_then(Value::as_str);
            value.is_some_and(|value| accepted.contains(&value))
        })
    }

    /// Checks the audience, and for Cognito the client.
    fn audience(
        &self,
        claims: &Map<String, Value>,
        client: &ClientId,
        expected: &Audience,
    ) -> Result<Vec<Audience>, JwtError> {
        let audiences: Option<Audiences<'static>> = match claims.get("aud") {
            None => None,
            Some(audiences) => Some(Audiences::owned(audiences).ok_or(JwtError::Malformed)?),
        };
        let names_api = audiences
            .as_ref()
            .map(|audiences| audiences.contains(expected.as_str()));
        let is_accepted = match &self.clients {
            Some(clients) => clients.contains(client) && names_api != Some(false),
            // without a mark, only the audience tells ID tokens apart: it is their client
            None => names_api == Some(true) && (self.mark.is_some() || client.as_str() != expected.as_str()),
        };
        if !is_accepted {
            return Err(if self.needs_audience_mapper {
                JwtError::NoAudienceMapper
            } else {
                JwtError::WrongAudience
            });
        }
        let audiences = audiences.map(|audiences| audiences.0).unwrap_or_default();
        let parsed = audiences.iter().map(|audience| audience.parse());
        parsed.collect::<Result<_, _>>().map_err(|_| JwtError::Malformed)
    }

    fn scopes(&self, claims: &Map<String, Value>) -> Result<Scopes, JwtError> {
        let found = self.scopes.iter().find_map(|name| claims.get(*name));
        let text = match found {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(list) => strings(list).ok_or(JwtError::Malformed)?.join(" "),
        };
        if text.is_empty() {
            return Ok(Scopes::default());
        }
        text.parse().map_err(|_| JwtError::Malformed)
    }

    fn roles(&self, claims: &Value) -> Result<Vec<String>, JwtError> {
        let found = self.roles.as_ref().and_then(|pointer| claims.pointer(pointer));
        found.map_or(Ok(Vec::new()), |roles| strings(roles).ok_or(JwtError::Malformed))
    }
}

fn text<'c>(claims: &'c Map<String, Value>, name: &str) -> Result<&'c str, JwtError> {
    claims
        .get(name)
        .and_then(Value::as_str)
        .ok_or(JwtError::Malformed)
}

/// Parses a claim that may be absent; `null` is not absent.
fn optional<T: for<'de> Deserialize<'de>>(
    claims: &Map<String, Value>,
    name: &str,
) -> Result<Option<T>, JwtError> {
    let parsed = claims.get(name).map(T::deserialize).transpose();
    parsed.map_err(|_| JwtError::Malformed)
}

/// The elements of a list of texts.
pub(super) fn strings(list: &Value) -> Option<Vec<String>> {
    let elements = list.as_array()?.iter();
    elements
        .map(|element| element.as_str().map(str::to_owned))
        .collect()
}
