//! Further access tokens that issuers document: machines, roles of a client, and issuers without a
//! profile of their own.

use oauth_core::jose::{IssuerProfile, JwtError};
use oauth_core::resource::ResourceServer;
use serde_json::{Value, json};

use super::shapes::{self, Shape, dated};
use super::{API, CLIENT, NOW, api, client, issuer, keys, present, present_text, set, with};

/// Changes several claims; `null` removes one.
fn changed(shape: Shape, changes: &[(&str, Value)]) -> Shape {
    let change = |shape, (name, value): &(&str, Value)| with(shape, name, value.clone());
    changes.iter().fold(shape, change)
}

/// Auth0, the token profile `rfc9068_profile`, with role-based access control.
fn auth0_rfc9068() -> Shape {
    let changes = [
        ("azp", Value::Null),
        ("client_id", json!(CLIENT)),
        ("jti", json!("wI9mGHgXJWbWbxVqXSVcW8")),
        ("org_id", json!("org_0Mnhu9uNWxbSQjJr")),
    ];
    let (_, claims) = changed(shapes::auth0(), &changes);
    (json!({ "typ": "at+jwt" }), claims)
}

/// Microsoft Entra ID, client credentials: application roles and no `scp`.
fn entra_machine() -> Shape {
    let object = "4a1aa1d5-c567-49d0-ad0b-cd957a47f842";
    let changes = [
        ("scp", Value::Null),
        ("name", Value::Null),
        ("idtyp", json!("app")),
        ("oid", json!(object)),
        ("sub", json!(object)),
    ];
    let (header, claims) = changed(shapes::entra(), &changes);
    (set(header, "x5t", json!("jibNbkFSSbmxPYrN9CFqRk4K4gw")), claims)
}

/// Amazon Cognito, client credentials: scopes of a resource server, and no user.
fn cognito_machine() -> Shape {
    let changes = [
        ("sub", json!(CLIENT)),
        ("username", Value::Null),
        ("origin_jti", Value::Null),
        ("cognito:groups", Value::Null),
        ("scope", json!("https://api.example/read:charges")),
    ];
    changed(shapes::cognito(), &changes)
}

/// Okta, client credentials.
fn okta_machine() -> Shape {
    let nothing = ["uid", "auth_time", "groups"].map(|name| (name, Value::Null));
    with(changed(shapes::okta(), &nothing), "sub", json!(CLIENT))
}

/// Okta, the authorization server of the organization: its tokens are for Okta's own APIs.
fn okta_organization() -> Shape {
    with(shapes::okta(), "aud", json!(issuer("okta")))
}

/// Keycloak 26, an API with roles of its client: the *audience resolve* mapper names it, alone.
fn keycloak_client() -> Shape {
    let changes = [
        ("aud", json!(API)),
        ("realm_access", json!({ "roles": ["everyone"] })),
        (
            "resource_access",
            json!({ API: { "roles": ["clerk"] }, "a~b": { "roles": ["c"] } }),
        ),
    ];
    changed(shapes::keycloak(), &changes)
}

/// Keycloak 26, a service account.
fn keycloak_machine() -> Shape {
    let changes = [
        ("client_id", json!(CLIENT)),
        ("clientHost", json!("10.0.0.1")),
        ("sid", Value::Null),
    ];
    changed(shapes::keycloak(), &changes)
}

/// PingFederate, JSON token management: no `typ`, scopes as a list.
fn pingfederate() -> Shape {
    let claims = json!({
        "iss": issuer("custom"),
        "sub": "ada",
        "aud": API,
        "client_id": CLIENT,
        "scope": ["openid", "read:charges"],
    });
    (json!({ "pi.atm": "a1b2" }), dated(claims))
}

/// Zitadel: the audience lists the clients and the project.
fn zitadel() -> Shape {
    let claims = json!({
        "iss": issuer("custom"),
        "sub": "163840776835432705",
        "aud": ["170086824411201793@portal", CLIENT, API],
        "azp": CLIENT,
        "client_id": CLIENT,
        "jti": "170086824411267329",
        "nbf": NOW,
        "scope": "openid read:charges",
        "urn:zitadel:iam:org:project:roles": { "clerk": { "170086774599581953": "acme.example" } },
    });
    (json!({ "typ": "JWT" }), dated(claims))
}

/// Ory Hydra, client credentials.
fn hydra() -> Shape {
    let claims = json!({
        "iss": issuer("custom"),
        "sub": CLIENT,
        "aud": [API],
        "client_id": CLIENT,
        "ext": {},
        "jti": "d8c2dbb0-1b2b-4f0f-a4f4-6a9a9b0a4f3c",
        "nbf": NOW,
        "scp": ["read:charges"],
    });
    (json!({ "typ": "JWT" }), dated(claims))
}

/// Duende IdentityServer, a user: scopes as a list.
fn duende() -> Shape {
    let claims = json!({
        "iss": issuer("custom"),
        "sub": "818727",
        "aud": API,
        "client_id": CLIENT,
        "auth_time": NOW - 60,
        "idp": "local",
        "jti": "C1C4F2E5",
        "nbf": NOW,
        "amr": ["pwd"],
        "scope": ["openid", "read:charges"],
    });
    (json!({ "typ": "at+jwt" }), dated(claims))
}

/// Authentik: the audience is the client.
fn authentik() -> Shape {
    let claims = json!({
        "iss": issuer("custom"),
        "sub": "f7a2",
        "aud": CLIENT,
        "azp": CLIENT,
        "uid": "IW8e",
        "acr": "goauthentik.io/providers/oauth2/default",
        "auth_time": NOW - 60,
        "scope": "openid read:charges",
    });
    (json!({ "typ": "JWT" }), dated(claims))
}

/// O31: tokens of machines and of issuers without a profile pass, with their scopes and roles.
#[test]
fn other_documented_tokens_pass() {
    const SCOPE: &str = "read:charges";
    let [entra, cognito, custom] = [
        IssuerProfile::entra_id(),
        IssuerProfile::cognito([client()]),
        IssuerProfile::custom(),
    ];
    for (name, profile, shape, scope, has_role) in [
        ("auth0", IssuerProfile::auth0(), auth0_rfc9068(), SCOPE, true),
        ("entra", entra, entra_machine(), "", true),
        (
            "cognito",
            cognito,
            cognito_machine(),
            "https://api.example/read:charges",
            false,
        ),
        ("okta", IssuerProfile::okta(), okta_machine(), SCOPE, false),
        (
            "keycloak",
            IssuerProfile::keycloak(),
            keycloak_client(),
            SCOPE,
            false,
        ),
        (
            "keycloak",
            IssuerProfile::keycloak(),
            keycloak_machine(),
            SCOPE,
            true,
        ),
        ("custom", custom.clone(), pingfederate(), SCOPE, false),
        ("custom", custom.clone(), zitadel(), SCOPE, false),
        ("custom", custom.clone(), hydra(), SCOPE, false),
        ("custom", custom, duende(), SCOPE, false),
    ] {
        let token = present(&api(name, profile), shape.clone()).unwrap();
        assert_eq!(token.client_id().as_str(), CLIENT, "{shape:?}");
        assert_eq!(token.scopes().is_empty(), scope.is_empty(), "{shape:?}");
        assert!(
            scope.is_empty() || token.scopes().contains_str(scope),
            "{shape:?}"
        );
        assert_eq!(token.principal().has_role("clerk"), has_role, "{shape:?}");
    }
}

/// O31: the audience of an Entra token can be the bare identifier of the API's application.
#[test]
fn audience_can_be_an_application_id() {
    const APPLICATION: &str = "6e74172b-be56-4843-9ff4-e66a39bb12e3";
    let api = ResourceServer::new(
        issuer("entra").parse().unwrap(),
        APPLICATION.parse().unwrap(),
        keys(),
    );
    let api = api.with_issuer_profile(IssuerProfile::entra_id());
    let shape = with(shapes::entra(), "aud", json!(APPLICATION));
    assert!(present(&api, shape).is_ok());
    assert!(present(&api, shapes::entra()).is_err());
}

/// O31: with a client's roles, the roles of the realm and of other clients do not count.
#[test]
fn keycloak_roles_of_a_client_replace_those_of_the_realm() {
    let roles = |of: &str, shape: Shape| {
        let profile = IssuerProfile::keycloak_client_roles(&of.parse().unwrap());
        let token = present(&api("keycloak", profile), shape).unwrap();
        token.roles().to_vec()
    };
    assert_eq!(roles(API, keycloak_client()), ["clerk"]);
    assert_eq!(roles("a~b", keycloak_client()), ["c"]);
    assert!(roles("other", keycloak_client()).is_empty());
    assert!(roles(API, shapes::keycloak()).is_empty());
    let malformed = with(
        keycloak_client(),
        "resource_access",
        json!({ API: { "roles": "clerk" } }),
    );
    let profile = IssuerProfile::keycloak_client_roles(&API.parse().unwrap());
    assert_eq!(
        present(&api("keycloak", profile), malformed).unwrap_err(),
        JwtError::Malformed
    );
}

/// O31: a required role must be in the claim of the profile. Only the log names the role.
#[test]
fn required_role_is_enforced() {
    let profile = IssuerProfile::keycloak_client_roles(&API.parse().unwrap());
    let token = present(&api("keycloak", profile), keycloak_client()).unwrap();
    assert!(token.require_role("clerk").is_ok());
    for role in ["everyone", "Clerk", ""] {
        let refused = token.require_role(role).unwrap_err();
        assert_eq!(
            (refused.status().as_u16(), refused.code()),
            (403, Some("insufficient_scope"))
        );
        assert_eq!(refused.diagnosis(), format!("missing role `{role}`"));
        let challenge = &refused.headers()["www-authenticate"];
        assert_eq!(
            challenge,
            &format!(r#"Bearer realm="{API}", error="insufficient_scope""#)
        );
    }
}

/// O31: tokens for another API, without a subject, or without a difference to an ID token are
/// refused.
#[test]
fn documented_tokens_without_these_claims_are_refused() {
    let custom = api("custom", IssuerProfile::custom());
    let refused = |api: &ResourceServer, shape| present(api, shape).unwrap_err();
    let okta = api("okta", IssuerProfile::okta());
    assert_eq!(refused(&okta, okta_organization()), JwtError::WrongAudience);
    // lightweight access tokens of Keycloak are for introspection
    let keycloak = api("keycloak", IssuerProfile::keycloak());
    let lightweight = with(shapes::keycloak(), "sub", Value::Null);
    assert_eq!(refused(&keycloak, lightweight), JwtError::Malformed);
    let without_audience = with(shapes::keycloak(), "aud", Value::Null);
    assert_eq!(refused(&keycloak, without_audience), JwtError::NoAudienceMapper);
    // client credentials of Duende IdentityServer
    assert_eq!(
        refused(&custom, with(duende(), "sub", Value::Null)),
        JwtError::Malformed
    );
    assert_eq!(refused(&custom, authentik()), JwtError::WrongAudience);
    let issuer = issuer("custom").parse().unwrap();
    let of_client = ResourceServer::new(issuer, CLIENT.parse().unwrap(), keys());
    let of_client = of_client.with_issuer_profile(IssuerProfile::custom());
    assert_eq!(refused(&of_client, authentik()), JwtError::WrongAudience);
    // Google's access tokens are opaque
    let opaque = present_text(&custom, "ya29.a0AfH6SMBx0e9");
    assert_eq!(opaque.unwrap_err(), JwtError::Malformed);
}
