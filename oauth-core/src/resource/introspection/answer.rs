use std::borrow::Cow;
use std::time::SystemTime;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::jose::{AccessTokenClaims, AccessTokenPolicy, Audiences, NumericDate, Times};
use crate::json;
use crate::vocabulary::{Confirmation, Scopes};

/// An answer on the wire, [RFC 7662 §2.2](https://www.rfc-editor.org/rfc/rfc7662#section-2.2); members nobody knows are ignored.
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
    #[serde(borrow, default)]
    jti: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    token_type: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "some")]
    cnf: Option<Value>,
}

/// What is there is something, also where it is `null`.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// What the token says, or that it is not active here and now; none where the answer is no answer.
pub(super) fn read(
    response: &Response<Bytes>,
    policy: &AccessTokenPolicy,
    now: SystemTime,
) -> Option<Option<AccessTokenClaims>> {
    if response.status() != StatusCode::OK {
        return None;
    }
    let wire: Wire<'_> = json::object(response.body()).ok()?;
    Some(wire.active.then(|| claims(&wire, policy, now)).flatten())
}

/// None for what an issuer may call active and this resource server must not: a token of another issuer or for another audience, one
/// that is over, and one that is bound to something which nobody here can check.
fn claims(wire: &Wire<'_>, policy: &AccessTokenPolicy, now: SystemTime) -> Option<AccessTokenClaims> {
    let issuer = policy.issuer();
    if wire.iss.as_deref().is_some_and(|iss| iss != issuer.as_str()) {
        return None;
    }
    let audience = wire.aud.as_ref()?;
    if !audience.contains(policy.audience().as_str()) {
        return None;
    }
    let expires_at = wire.exp?;
    let issued_at = wire.iat.unwrap_or(SystemTime::UNIX_EPOCH.into());
    let times = Times {
        expires_at,
        issued_at,
        not_before: wire.nbf,
    };
    times.check(now, policy.leeway()).ok()?;
    let confirmation = wire
        .cnf
        .as_ref()
        .map(Confirmation::deserialize)
        .transpose()
        .ok()?;
    let is_dpop = |name: &str| name.eq_ignore_ascii_case("DPoP");
    let is_bound = matches!(confirmation, Some(Confirmation::Jkt(_)));
    // a bound token that does not say to what must not pass for a bearer token
    if wire.token_type.as_deref().is_some_and(is_dpop) && !is_bound {
        return None;
    }
    let client_id = wire.client_id.as_deref()?;
    let scopes = match wire.scope.as_deref() {
        None | Some("") => Scopes::default(),
        Some(scopes) => scopes.parse().ok()?,
    };
    Some(AccessTokenClaims {
        issuer: issuer.clone(),
        // a client that acts for itself may have no other name
        subject: wire.sub.as_deref().unwrap_or(client_id).parse().ok()?,
        audience: audience.0.iter().filter_map(|name| name.parse().ok()).collect(),
        client_id: client_id.parse().ok()?,
        scopes,
        jti: wire.jti.as_deref().unwrap_or_default().to_owned(),
        issued_at: issued_at.time(),
        expires_at: expires_at.time(),
        auth_time: None,
        confirmation,
    })
}
