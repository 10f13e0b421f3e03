use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::exchange::MAX_LENGTH;
use crate::jose::{AccessTokenPolicy, Audiences, NumericDate, Times};
use crate::json;
use crate::resource::authenticated_token::Granted;
use crate::vocabulary::{AccessTokenTerms, Confirmation, Scopes};

/// Introspection response on the wire, [RFC 7662
/// §2.2](https://www.rfc-editor.org/rfc/rfc7662#section-2.2). Unknown members are ignored.
#[derive(Deserialize)]
struct Wire<'a> {
    active: bool,
    #[serde(borrow, default)]
    scope: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    client_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    sub: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    aud: Option<Audiences<'a>>,
    #[serde(borrow, default)]
    iss: Option<Cow<'a, str>>,
    #[serde(default)]
    exp: Option<NumericDate>,
    #[serde(default)]
    iat: Option<NumericDate>,
    #[serde(default)]
    nbf: Option<NumericDate>,
    /// [RFC 9470 §6.2](https://www.rfc-editor.org/rfc/rfc9470#section-6.2); a malformed `auth_time`
    /// counts as absent.
    #[serde(default, deserialize_with = "readable")]
    auth_time: Option<NumericDate>,
    #[serde(borrow, default)]
    jti: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    token_type: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "json::some")]
    cnf: Option<Value>,
}

fn readable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NumericDate>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(NumericDate::deserialize(value).ok())
}

/// Content of a response for an active token. [`is_for`](Self::is_for) checks it for each resource
/// server.
pub(super) struct Active {
    issuer: Option<String>,
    times: Times,
    granted: Arc<Granted>,
}

/// Parses a response: `Some(None)` for an inactive or refused token, `None` for a malformed
/// response. With `takes_untyped` the `token_type` is optional.
pub(super) fn read(response: &Response<Bytes>, takes_untyped: bool) -> Option<Option<Active>> {
    if response.status() != StatusCode::OK || response.body().len() > MAX_LENGTH {
        return None;
    }
    let wire: Wire<'_> = json::object(response.body()).ok()?;
    Some(wire.active.then(|| Active::of(&wire, takes_untyped)).flatten())
}

impl Active {
    /// Returns `None` for active tokens that must be refused: tokens of another type, without
    /// client, audience or expiry, or with an unsupported binding.
    fn of(wire: &Wire<'_>, takes_untyped: bool) -> Option<Self> {
        let confirmation = wire
            .cnf
            .as_ref()
            .map(Confirmation::deserialize)
            .transpose()
            .ok()?;
        let is_bound = matches!(confirmation, Some(Confirmation::Jkt(_)));
        let opens = match wire.token_type.as_deref() {
            // a refresh token can be active too, and its response usually has no `token_type`
            None => takes_untyped,
            Some(of_bearer) if of_bearer.eq_ignore_ascii_case("Bearer") => true,
            // `DPoP` without `cnf.jkt` must not pass as a bearer token
            Some(token_type) => token_type.eq_ignore_ascii_case("DPoP") && is_bound,
        };
        if !opens {
            return None;
        }
        let times = Times {
            expires_at: wire.exp?,
            issued_at: wire.iat.unwrap_or(SystemTime::UNIX_EPOCH.into()),
            not_before: wire.nbf,
        };
        let client_id = wire.client_id.as_deref()?;
        let audience = wire.aud.as_ref()?;
        let scopes = match wire.scope.as_deref() {
            None | Some("") => Scopes::default(),
            Some(scopes) => scopes.parse().ok()?,
        };
        let terms = AccessTokenTerms {
            // a token of the client credentials grant may have no `sub`
            subject: wire.sub.as_deref().unwrap_or(client_id).parse().ok()?,
            client_id: client_id.parse().ok()?,
            scopes,
            audience: audience.0.iter().filter_map(|name| name.parse().ok()).collect(),
            confirmation,
            issued_at: times.issued_at.time(),
            expires_at: times.expires_at.time(),
        };
        let granted = Granted {
            terms,
            token_id: wire.jti.as_deref().unwrap_or_default().to_owned(),
            auth_time: wire.auth_time.map(NumericDate::time),
            roles: Vec::new(),
            tenant: None,
        };
        Some(Self {
            issuer: wire.iss.as_deref().map(str::to_owned),
            times,
            granted: Arc::new(granted),
        })
    }

    pub(super) fn expires_at(&self) -> SystemTime {
        self.granted.terms.expires_at
    }

    /// Returns `true` if issuer, audience and lifetime of the token are valid under `policy`.
    pub(super) fn is_for(&self, policy: &AccessTokenPolicy, now: SystemTime) -> bool {
        let issuer = self.issuer.as_deref();
        issuer.is_none_or(|issuer| issuer == policy.issuer().as_str())
            && self.granted.terms.audience.contains(policy.audience())
            && self.times.check(now, policy.leeway()).is_ok()
    }

    /// Returns the content of the token. Call [`is_for`](Self::is_for) first.
    pub(super) const fn granted(&self) -> &Arc<Granted> {
        &self.granted
    }
}
