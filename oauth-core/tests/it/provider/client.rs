//! Client behavior that follows from the metadata of the server.

use std::time::{Duration, SystemTime};

use http::Response;
use oauth_core::client::{
    AuthorizationParams, Call, CallResponse, CallbackError, Client, ClientCredentials, NotOffered, Provider,
};
use oauth_core::jose::{IdTokenClaims, SigningKey};
use oauth_core::ports::OsEntropy;
use oauth_core::vocabulary::Scopes;

use super::*;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn client(document: &Value) -> Client {
    let provider = Provider::from_metadata(&issuer(), document.to_string().as_bytes()).unwrap();
    Client::new(provider, "demo-web".parse().unwrap())
}

fn asking() -> AuthorizationParams {
    let redirect_uri = "https://app.example/cb".parse().unwrap();
    AuthorizationParams::new(redirect_uri, "openid".parse().unwrap())
}

fn ada() -> IdTokenClaims {
    IdTokenClaims {
        issuer: issuer(),
        subject: "ada".parse().unwrap(),
        audience: "demo-web".parse().unwrap(),
        nonce: None,
        issued_at: now(),
        expires_at: now(),
        auth_time: None,
        email: None,
        email_verified: None,
        name: None,
        claims: Default::default(),
    }
}

fn finish(client: &Client, query: &str) -> Result<(), CallbackError> {
    let (_, pending) = client.authorize(&asking(), &OsEntropy, now()).unwrap();
    let query = format!("{query}&state={}", pending.state());
    pending.finish(&query, now()).map(|_| ())
}

/// O3, 90: if the metadata promise `iss`, every response must have it, errors included. Otherwise a
/// response without `iss` is accepted, and one with another issuer refused.
#[test]
fn promised_iss_parameter_is_required() {
    let wrong = Err(CallbackError::WrongIssuer);
    for (said, sends_issuer) in [
        (json!(true), true),
        (json!(false), false),
        // member absent
        (Value::Null, false),
    ] {
        let client = client(&with("authorization_response_iss_parameter_supported", said));
        assert_eq!(client.provider().sends_issuer(), sends_issuer);
        let nameless = finish(&client, "code=c");
        assert_eq!(nameless, if sends_issuer { wrong.clone() } else { Ok(()) });
        if sends_issuer {
            assert_eq!(finish(&client, "error=access_denied"), wrong);
        }
        assert_eq!(finish(&client, "code=c&iss=https%3A%2F%2Fas.example"), Ok(()));
        for other in ["https%3A%2F%2Fevil.example", "https%3A%2F%2Fas.example%2F"] {
            assert_eq!(finish(&client, &format!("code=c&iss={other}")), wrong);
        }
    }
}

/// O23: if the metadata require pushed requests, no other is sent.
#[test]
fn client_pushes_if_server_requires_it() {
    for (said, is_required) in [(json!(true), true), (json!(false), false), (Value::Null, false)] {
        let client = client(&with("require_pushed_authorization_requests", said));
        let refused = client.authorize(&asking(), &OsEntropy, now()).err();
        let expected = is_required.then_some(NotOffered::UnpushedAuthorizationRequest);
        assert_eq!(refused, expected);
    }
}

fn place<A: CallResponse>(call: Call<A>) -> String {
    let (request, _) = call.start(&OsEntropy, now()).unwrap();
    request.uri().to_string()
}

/// O19, 12, 92: a client that requests certificate-bound tokens uses the mTLS endpoint, whichever
/// way it authenticates.
#[test]
fn bound_tokens_are_requested_at_mtls_endpoint() {
    let mut document = least();
    let endpoints = ["token", "par", "revoke", "userinfo"];
    let names = [
        "token_endpoint",
        "pushed_authorization_request_endpoint",
        "revocation_endpoint",
        "userinfo_endpoint",
    ];
    let at = |host: &str| {
        names
            .into_iter()
            .zip(endpoints.map(|path| json!(format!("https://{host}/{path}"))))
    };
    for (name, endpoint) in at("as.example") {
        document[name] = endpoint;
    }
    document["mtls_endpoint_aliases"] = Value::Object(
        at("mtls.as.example")
            .map(|(name, at)| (name.to_owned(), at))
            .collect(),
    );
    let key = SigningKey::generate_ed25519(&OsEntropy).unwrap();
    for credentials in [
        ClientCredentials::None,
        ClientCredentials::PrivateKey(key),
        ClientCredentials::Post("secret".parse().unwrap()),
    ] {
        let plain = client(&document).with_credentials(credentials);
        for (client, host) in [
            (plain.clone(), "as.example"),
            (plain.with_certificate_bound_tokens(), "mtls.as.example"),
        ] {
            let refresh = client.refresh(&"rt".parse().unwrap(), &Scopes::default());
            let (request, pending) = refresh.start(&OsEntropy, now()).unwrap();
            let body = r#"{"access_token":"at","token_type":"Bearer"}"#;
            let tokens = pending.finish(Response::new(body.into()), now()).unwrap();
            let places = [
                request.uri().to_string(),
                place(client.push(&asking(), &OsEntropy, now()).unwrap()),
                place(client.revoke_refresh_token(&"rt".parse().unwrap()).unwrap()),
                place(tokens.user_info(&ada()).unwrap()),
            ];
            assert_eq!(
                places,
                endpoints.map(|endpoint| format!("https://{host}/{endpoint}"))
            );
            let (url, _) = client.authorize(&asking(), &OsEntropy, now()).unwrap();
            assert!(url.starts_with("https://as.example/authorize?"));
        }
    }
}

/// O6, 12, 92: a client with a certificate uses the mTLS aliases, or the plain endpoint where there
/// is no alias. Other clients never use an alias.
#[test]
fn clients_with_certificate_use_mtls_aliases() {
    let mut document = least();
    document["pushed_authorization_request_endpoint"] = json!("https://as.example/par");
    document["revocation_endpoint"] = json!("https://as.example/revoke");
    let plain = document.clone();
    document["mtls_endpoint_aliases"] = json!({
        "token_endpoint": "https://mtls.as.example/token",
        "pushed_authorization_request_endpoint": "https://mtls.as.example/par",
        "revocation_endpoint": "https://mtls.as.example/revoke",
    });
    let secret = ClientCredentials::Basic("secret".parse().unwrap());
    for (document, credentials, host) in [
        (&document, ClientCredentials::Certificate, "mtls.as.example"),
        (&document, secret.clone(), "as.example"),
        (&document, ClientCredentials::None, "as.example"),
        (&plain, ClientCredentials::Certificate, "as.example"),
        (&plain, secret, "as.example"),
    ] {
        let client = client(document).with_credentials(credentials);
        let places = [
            place(client.client_credentials(&Scopes::default())),
            place(client.refresh(&"rt".parse().unwrap(), &Scopes::default())),
            place(client.push(&asking(), &OsEntropy, now()).unwrap()),
            place(client.revoke_access_token(&"at".parse().unwrap()).unwrap()),
        ];
        let expected =
            ["token", "token", "par", "revoke"].map(|endpoint| format!("https://{host}/{endpoint}"));
        assert_eq!(places, expected);
        // the browser has no certificate
        let (url, _) = client.authorize(&asking(), &OsEntropy, now()).unwrap();
        assert!(url.starts_with("https://as.example/authorize?"));
    }
}
