//! Arbitrary input from peers and files is parsed or refused, and nothing panics.

use std::time::SystemTime;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Request, Response};
use oauth_core::basic::BasicCredentials;
use oauth_core::client::{AuthorizationParams, Client, Discovery, Provider, WellKnown};
use oauth_core::jose::{Jwk, KeySet, SigningKey};
use oauth_core::params::{self, Params};
use oauth_core::pkce::{CodeChallenge, CodeVerifier};
use oauth_core::ports::OsEntropy;
use oauth_core::resource::ResourceServer;
use oauth_core::secret::{AccessToken, TokenHash};
use oauth_core::vocabulary::{
    ClientId, Endpoint, Issuer, Nonce, RedirectUri, RegisteredRedirectUri, Scopes, State, Subject,
};
use proptest::prelude::*;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH
}

fn client() -> Client {
    let provider = Provider::new(
        "https://as.example".parse().unwrap(),
        "https://as.example/authorize".parse().unwrap(),
        "https://as.example/token".parse().unwrap(),
    );
    Client::new(provider, "c".parse().unwrap())
}

/// Text that often enough looks like a URL to pass the first check.
fn address() -> impl Strategy<Value = String> {
    "(https?|ftp|[a-z.]{1,4})?:?/{0,3}([a-z@:.]{0,6}|127\\.0\\.0\\.1|\\[[:0-9a-f]{0,4}\\]|\\PC{0,6})(:[0-9]{0,6})?(/[ -~]{0,8})?|\\PC*"
}

/// Text that often enough looks like JSON.
fn document() -> impl Strategy<Value = String> {
    "\\{(\"(keys|kty|crv|x|y|n|e|d|access_token|token_type|error|expires_in)\":(\"[A-Za-z0-9_-]{0,4}\"|[0-9-]{1,3}|null|\\[\\{\\}\\]|\\{\\}),?){0,4}\\}|\\PC*"
}

/// Server metadata with arbitrary members.
fn metadata() -> impl Strategy<Value = String> {
    let least = r#""issuer":"https://as.example","token_endpoint":"https://as.example/token","response_types_supported":["code"],"code_challenge_methods_supported":["S256"]"#;
    let rest = "(,\"(authorization_endpoint|jwks_uri|userinfo_endpoint|mtls_endpoint_aliases|dpop_signing_alg_values_supported)\":(\"https://[a-z.%:]{0,4}/?[!-~]{0,4}\"|null|\\[\\]|\\{\\}|[0-9])){0,4}";
    rest.prop_map(move |rest| format!("{{{least}{rest}}}"))
}

proptest! {
    #[test]
    fn words_never_panic(text in "\\PC*") {
        let words = (text.parse::<ClientId>(), text.parse::<State>(), text.parse::<Nonce>(), text.parse::<Subject>());
        let secrets = (text.parse::<AccessToken>(), text.parse::<TokenHash>(), text.parse::<Scopes>());
        drop((words, secrets, text.parse::<CodeVerifier>(), text.parse::<CodeChallenge>()));
    }

    #[test]
    fn addresses_never_panic(text in address()) {
        drop((text.parse::<Endpoint>(), RegisteredRedirectUri::loopback_any_port(&text)));
        if let Ok(issuer) = text.parse::<Issuer>() {
            for document in WellKnown::ALL {
                prop_assert!(Discovery::new(issuer.clone()).request(document).uri().host().is_some());
            }
        }
        if let Ok(uri) = text.parse::<RedirectUri>() {
            prop_assert_eq!(uri.as_str(), text);
            let location = uri.with_query([("\n", "\r\u{e9}\0")]);
            prop_assert!(HeaderValue::from_str(&location).is_ok());
        }
    }

    #[test]
    fn metadata_never_panic(text in metadata(), document in document(), bytes: Vec<u8>) {
        let issuer = "https://as.example".parse().unwrap();
        for document in [text.as_bytes(), document.as_bytes(), &bytes] {
            if let Ok(provider) = Provider::from_metadata(&issuer, document) {
                prop_assert_eq!(provider.issuer(), &issuer);
            }
        }
    }

    #[test]
    fn keys_never_panic(text in document(), bytes: Vec<u8>) {
        drop((Jwk::parse(text.as_bytes()), KeySet::parse(text.as_bytes()), KeySet::parse(&bytes)));
        drop((SigningKey::from_pkcs8_pem(&text), SigningKey::from_pkcs8_der(&bytes)));
        drop(SigningKey::from_pkcs8_pem(&format!("-----BEGIN PRIVATE KEY-----{text}-----END PRIVATE KEY-----")));
    }

    #[test]
    fn headers_and_forms_never_panic(bytes: Vec<u8>, text in "\\PC*") {
        if let Ok(value) = HeaderValue::from_bytes(&bytes) {
            drop(BasicCredentials::parse(&value));
            let headers = HeaderMap::from_iter([(http::header::CONTENT_TYPE, value)]);
            prop_assert!(!params::is_form(&headers));
        }
        if let Ok(params) = Params::parse(&bytes) {
            prop_assert!(params.all(&text).all(|value| !value.is_empty()));
        }
    }

    #[test]
    fn callbacks_never_panic(query in "((code|state|iss|error)=[a-z%0-9]{0,4}&?){0,5}|\\PC*") {
        let params = AuthorizationParams::new("https://app.example/cb".parse().unwrap(), Scopes::default());
        let (_, pending) = client().authorize(&params, &OsEntropy, now()).unwrap();
        prop_assert!(pending.finish(&query, now()).is_err());
    }

    #[test]
    fn requests_of_another_machine_never_panic(text in "\\{(\"(version|state|nonce|scope|max_age|created_at)\":(\"[a-z]{0,3}\"|[0-9]{1,20}|null),?){0,6}\\}|\\PC*") {
        prop_assert!(client().resume(&text).is_err());
    }

    #[test]
    fn token_responses_never_panic(status in 100_u16..600, body in document()) {
        let call = client().refresh(&"rt".parse().unwrap(), &Scopes::default());
        let (_, pending) = call.start(&OsEntropy, now()).unwrap();
        let response = Response::builder().status(status).body(Bytes::from(body)).unwrap();
        drop(pending.finish(response, now()));
    }

    #[test]
    fn requests_to_an_api_never_panic(bytes: Vec<u8>, query in "[!-~]{0,20}") {
        let keys = KeySet::new([]).unwrap();
        let api = ResourceServer::new("https://as.example".parse().unwrap(), "api".parse().unwrap(), keys);
        let bearer = [b"Bearer ", bytes.as_slice()].concat();
        if let Ok(request) = Request::get(format!("/?{query}")).header("authorization", bearer).body(()) {
            let answer = api.authenticate(&request.into_parts().0, now()).now_or_never();
            prop_assert!(answer.unwrap().is_err());
        }
    }
}
