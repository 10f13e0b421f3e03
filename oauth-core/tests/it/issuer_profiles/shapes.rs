//! Access tokens and ID tokens in the shapes that the issuers document, with the values of an API
//! of this test.

use serde_json::{Value, json};

use super::{API, CLIENT, NOW, issuer, set, with};

/// A token: its header without `alg` and `kid`, and its claims.
pub(super) type Shape = (Value, Value);

pub(super) fn dated(claims: Value) -> Value {
    let times = [("iat", NOW), ("exp", NOW + 300)];
    times
        .into_iter()
        .fold(claims, |claims, (name, time)| set(claims, name, json!(time)))
}

/// Keycloak 26, a client scope with an audience mapper.
pub(super) fn keycloak() -> Shape {
    let claims = json!({
        "jti": "onrtac:7b6c7f4c-4b1f-4c55-9a0a-5f6f1c8e0a11",
        "iss": issuer("keycloak"),
        "aud": [API, "account"],
        "sub": "f:3a1b:ada",
        "typ": "Bearer",
        "azp": CLIENT,
        "sid": "0a8cf2d1-1c63-4b22-a1c5-9d9f2f2f4a10",
        "acr": "1",
        "allowed-origins": ["https://app.example"],
        "realm_access": { "roles": ["offline_access", "clerk"] },
        "resource_access": { "account": { "roles": ["view-profile"] } },
        "scope": "read:charges profile email",
        "email_verified": true,
        "preferred_username": "ada",
    });
    (json!({ "typ": "JWT" }), dated(claims))
}

/// Keycloak 26 without an audience mapper.
pub(super) fn keycloak_by_default() -> Shape {
    with(keycloak(), "aud", json!("account"))
}

pub(super) fn keycloak_id_token() -> Shape {
    with(with(keycloak(), "typ", json!("ID")), "aud", json!(CLIENT))
}

/// Auth0, the token profile `auth0`.
pub(super) fn auth0() -> Shape {
    let claims = json!({
        "iss": issuer("auth0"),
        "sub": "auth0|5f7c8ec7c33c6c004bbafe82",
        "aud": [API, "https://tenant.example.auth0.com/userinfo"],
        "azp": CLIENT,
        "scope": "openid read:charges",
        "permissions": ["clerk"],
    });
    (json!({ "typ": "JWT" }), dated(claims))
}

/// Auth0, client credentials.
pub(super) fn auth0_machine() -> Shape {
    let claims = json!({
        "iss": issuer("auth0"),
        "sub": format!("{CLIENT}@clients"),
        "aud": API,
        "azp": CLIENT,
        "scope": "read:charges",
        "gty": "client-credentials",
    });
    (json!({ "typ": "JWT" }), dated(claims))
}

pub(super) fn auth0_id_token() -> Shape {
    let claims = json!({
        "iss": issuer("auth0"),
        "sub": "auth0|5f7c8ec7c33c6c004bbafe82",
        "aud": CLIENT,
        "nickname": "ada",
        "sid": "Vv6Vw0",
    });
    (json!({ "typ": "JWT" }), dated(claims))
}

/// Okta, a custom authorization server.
pub(super) fn okta() -> Shape {
    let claims = json!({
        "ver": 1,
        "jti": "AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE",
        "iss": issuer("okta"),
        "aud": API,
        "cid": CLIENT,
        "uid": "00u1abvz4pYqdM8ms4x6",
        "scp": ["openid", "read:charges"],
        "auth_time": NOW - 60,
        "sub": "ada@example.com",
        "groups": ["clerk"],
    });
    (json!({}), dated(claims))
}

pub(super) fn okta_id_token() -> Shape {
    let claims = json!({
        "ver": 1,
        "jti": "ID.4eAWJOCMB3SX8XewDfVR",
        "iss": issuer("okta"),
        "aud": CLIENT,
        "amr": ["pwd"],
        "idp": "00o5ivsvqlJSJVBme0g3",
        "sub": "00u1abvz4pYqdM8ms4x6",
        "auth_time": NOW - 60,
        "at_hash": "preview_at_hash",
    });
    (json!({}), dated(claims))
}

/// Microsoft Entra ID, version 2.0.
pub(super) fn entra() -> Shape {
    let claims = json!({
        "aud": API,
        "iss": issuer("entra"),
        "nbf": NOW,
        "aio": "AXQAi/8IAAAAtAaZ",
        "azp": CLIENT,
        "azpacr": "1",
        "name": "Ada",
        "oid": "690222be-ff1a-4d56-abd1-7e4f7d38e474",
        "rh": "I",
        "roles": ["clerk"],
        "scp": "access_as_user read:charges",
        "sub": "HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ",
        "tid": "72f988bf-86f1-41af-91ab-2d7cd011db47",
        "uti": "fqiBqXLPj0eQa82S-IYFAA",
        "ver": "2.0",
    });
    (json!({ "typ": "JWT" }), dated(claims))
}

/// Microsoft Entra ID, version 1.0.
pub(super) fn entra_v1() -> Shape {
    let changes = [
        ("azp", Value::Null),
        ("azpacr", Value::Null),
        ("appid", json!(CLIENT)),
        ("appidacr", json!("0")),
        ("ver", json!("1.0")),
    ];
    let change = |shape, (name, value)| with(shape, name, value);
    changes.into_iter().fold(entra(), change)
}

pub(super) fn entra_id_token() -> Shape {
    let claims = json!({
        "aud": CLIENT,
        "iss": issuer("entra"),
        "nbf": NOW,
        "name": "Ada",
        "oid": "690222be-ff1a-4d56-abd1-7e4f7d38e474",
        "preferred_username": "ada@example.com",
        "sub": "HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ",
        "tid": "72f988bf-86f1-41af-91ab-2d7cd011db47",
        "uti": "fqiBqXLPj0eQa82S-IYFAA",
        "ver": "2.0",
    });
    (json!({ "typ": "JWT" }), dated(claims))
}

/// Amazon Cognito.
pub(super) fn cognito() -> Shape {
    let claims = json!({
        "sub": "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
        "cognito:groups": ["clerk"],
        "iss": issuer("cognito"),
        "version": 2,
        "client_id": CLIENT,
        "origin_jti": "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
        "token_use": "access",
        "scope": "openid read:charges",
        "auth_time": NOW - 60,
        "jti": "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
        "username": "ada",
    });
    (json!({}), dated(claims))
}

pub(super) fn cognito_id_token() -> Shape {
    let claims = json!({
        "sub": "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
        "cognito:groups": ["clerk"],
        "iss": issuer("cognito"),
        "cognito:username": "ada",
        "origin_jti": "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
        "aud": CLIENT,
        "event_id": "64f513be-32db-42b0-b78e-b02127b4f463",
        "token_use": "id",
        "auth_time": NOW - 60,
        "jti": "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
        "email": "ada@example.com",
    });
    (json!({}), dated(claims))
}

/// RFC 9068.
pub(super) fn rfc9068() -> Shape {
    let claims = json!({
        "iss": issuer("rfc9068"),
        "sub": "ada",
        "aud": API,
        "client_id": CLIENT,
        "jti": "1",
        "scope": "read:charges",
    });
    (json!({ "typ": "at+jwt" }), dated(claims))
}
