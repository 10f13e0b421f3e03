//! Requests to the token endpoint, and its answers.

use super::*;

/// O6: the code goes with its redirect URI and verifier; the client authenticates in exactly one way.
#[test]
fn a_code_is_redeemed_in_one_of_three_ways() {
    let secret = || "p%a+ss: w".parse().unwrap();
    let code = |request: &Request<Bytes>| form(request).into_iter().take(4).collect::<Vec<_>>();
    let credentials = |request: &Request<Bytes>| form(request).into_iter().skip(4).collect::<Vec<_>>();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());

    let public = client();
    let (request, _) = public.exchange(grant(&public).0);
    assert_eq!(request.uri(), "https://as.example/token");
    let verifier = form(&request)[3].1.parse::<CodeVerifier>().unwrap();
    let expected = [
        pair("grant_type", "authorization_code"),
        pair("code", "c"),
        pair("redirect_uri", "https://app.example/cb"),
        pair("code_verifier", verifier.expose()),
    ];
    assert_eq!(code(&request), expected);
    assert_eq!(credentials(&request), [pair("client_id", "demo web")]);
    assert!(!request.headers().contains_key("authorization"));

    let post = client().with_credentials(ClientCredentials::Post(secret()));
    let (request, _) = post.exchange(grant(&post).0);
    assert_eq!(
        credentials(&request),
        [pair("client_id", "demo web"), pair("client_secret", "p%a+ss: w")]
    );
    assert!(!request.headers().contains_key("authorization"));

    let basic = client().with_credentials(ClientCredentials::Basic(secret()));
    let (request, _) = basic.exchange(grant(&basic).0);
    assert_eq!(credentials(&request), []);
    let header = oauth_core::basic::BasicCredentials::parse(&request.headers()["authorization"]).unwrap();
    assert_eq!(
        (header.client_id.as_str(), header.secret.expose()),
        ("demo web", "p%a+ss: w")
    );
    assert!(request.headers()["authorization"].is_sensitive());
}

/// O6, 11: a client with a key sends an assertion that the server of its provider believes, and no secret.
#[test]
fn an_assertion_goes_along_with_its_type() {
    let key = SigningKey::generate_ed25519(&|bytes: &mut [u8]| bytes.fill(5)).unwrap();
    let (issuer, client_id): (Issuer, ClientId) =
        ("https://as.example".parse().unwrap(), "demo web".parse().unwrap());
    let entropy = |bytes: &mut [u8]| bytes.fill(6);
    let assertion = ClientAssertion::new(client_id.clone(), &entropy, now());
    let signed = assertion.sign(&key, &issuer).unwrap();
    let client = client().with_credentials(ClientCredentials::Assertion(signed.clone()));
    assert!(!format!("{client:?}").contains(signed.expose()));

    let (request, _) = client.refresh(&"rt".parse().unwrap(), &Scopes::default());
    assert!(!request.headers().contains_key("authorization"));
    let sent = form(&request);
    let pairs: Vec<_> = sent
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let expected = [
        ("grant_type", "refresh_token"),
        ("client_id", "demo web"),
        ("refresh_token", "rt"),
        (
            "client_assertion_type",
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        ),
        ("client_assertion", signed.expose()),
    ];
    assert_eq!(pairs, expected);
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let policy = ClientAssertionPolicy::new(issuer, client_id);
    assert_eq!(
        ClientAssertion::verify(signed.expose(), &keys, &policy, now()),
        Ok(assertion)
    );
}

/// O8: token responses are read strictly where it matters and leniently where the RFC wants it.
#[test]
fn a_token_response_is_read() {
    let tokens = exchange(
        200,
        r#" {"access_token":"at","token_type":"bEARER","expires_in":600,"refresh_token":"rt","scope":"openid","unknown":1}"#,
    )
    .unwrap();
    assert_eq!(tokens.access_token().expose(), "at");
    assert_eq!(tokens.refresh_token().unwrap().expose(), "rt");
    assert_eq!(tokens.expires_at(), Some(now() + Duration::from_secs(600)));
    assert_eq!(tokens.scopes().to_string(), "openid");
    let tokens = exchange(200, r#"{"access_token":"at","token_type":"Bearer"}"#).unwrap();
    assert_eq!(tokens.scopes().to_string(), "openid read:charges");
    assert!(tokens.refresh_token().is_none() && tokens.expires_at().is_none());
    for body in [
        "",
        "[]",
        r#"["at","Bearer"]"#,
        r#"{"token_type":"Bearer"}"#,
        r#"{"access_token":"at"}"#,
        r#"{"access_token":"","token_type":"Bearer"}"#,
        r#"{"access_token":"a\nt","token_type":"Bearer"}"#,
        r#"{"access_token":"at","access_token":"at2","token_type":"Bearer"}"#,
        r#"{"access_token":"at","token_type":"Bearer","expires_in":-1}"#,
        r#"{"access_token":"at","token_type":"Bearer","scope":"a  b"}"#,
    ] {
        assert_eq!(exchange(200, body).unwrap_err(), TokenError::Malformed, "{body}");
    }
    let mac = exchange(200, r#"{"access_token":"at","token_type":"mac"}"#).unwrap_err();
    assert_eq!(mac, TokenError::UnsupportedTokenType);
}

/// O8: no token is printed, the ID token included, which names a person.
#[test]
fn tokens_never_print() {
    let body = r#"{"access_token":"at-1","token_type":"Bearer","refresh_token":"rt-1","id_token":"id-1"}"#;
    let printed = format!("{:?}", exchange(200, body).unwrap());
    for secret in ["at-1", "rt-1", "id-1"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}

/// O6: a secret goes to the server it is registered at; a code of another server goes back there without it.
#[test]
fn a_secret_goes_to_its_own_server_only() {
    let elsewhere = |text: &str| text.replace("as.example", "other.example").parse().unwrap();
    let other = Provider::new(
        "https://other.example".parse().unwrap(),
        elsewhere("https://as.example/authorize"),
        elsewhere("https://as.example/token"),
    );
    let secret = || "the other server's secret".parse().unwrap();
    let (id, redirect_uri) = ("demo web", "https://app.example/cb");
    for credentials in [
        ClientCredentials::Basic(secret()),
        ClientCredentials::Post(secret()),
    ] {
        let confused = Client::new(other.clone(), id.parse().unwrap(), redirect_uri.parse().unwrap())
            .with_credentials(credentials.clone());
        let (request, _) = confused.exchange(grant(&client()).0);
        assert_eq!(request.uri(), "https://as.example/token");
        assert!(!request.headers().contains_key("authorization"));
        assert!(form(&request).iter().all(|(name, _)| name != "client_secret"));

        let renamed = Client::new(provider(), "demo".parse().unwrap(), redirect_uri.parse().unwrap())
            .with_credentials(credentials);
        let (request, _) = renamed.exchange(grant(&client()).0);
        assert!(!request.headers().contains_key("authorization"));
        assert_eq!(
            form(&request).last().unwrap().1,
            id,
            "the code was given to this client"
        );
    }
}

/// O26: the codes of RFC 6749 §5.2 are understood, whatever else comes is not taken for one.
#[test]
fn a_refusal_of_the_token_endpoint_is_told_from_a_failure() {
    for status in [400, 401] {
        let error = exchange(status, r#"{"error":"invalid_grant","error_description":"used"}"#).unwrap_err();
        let TokenError::Refused(answer) = error else {
            panic!("a refusal")
        };
        assert_eq!(
            (answer.code(), answer.description()),
            ("invalid_grant", Some("used"))
        );
    }
    for (status, body) in [
        (201, r#"{"access_token":"at","token_type":"Bearer"}"#),
        (400, "oops"),
        (500, r#"{"error":"invalid_grant"}"#),
        (302, ""),
        (503, ""),
    ] {
        assert!(
            matches!(exchange(status, body), Err(TokenError::UnexpectedStatus(_))),
            "{status}"
        );
    }
}

/// O9: a refresh sends the token under its name; a new one replaces it, none keeps it.
#[test]
fn a_refresh_takes_the_new_token_or_keeps_the_old() {
    let client = client();
    let scopes = "openid".parse().unwrap();
    let refresh = |body: &str| {
        let (request, pending) = client.refresh(&"rt-1".parse().unwrap(), &scopes);
        let pairs = form(&request);
        assert_eq!(pairs[0].1, "refresh_token");
        assert_eq!(pairs[2], ("refresh_token".to_owned(), "rt-1".to_owned()));
        pending.finish(&answer(200, body), now()).unwrap()
    };
    let rotated = refresh(r#"{"access_token":"at","token_type":"Bearer","refresh_token":"rt-2"}"#);
    assert_eq!(rotated.refresh_token().unwrap().expose(), "rt-2");
    let kept = refresh(r#"{"access_token":"at","token_type":"Bearer"}"#);
    assert_eq!(kept.refresh_token().unwrap().expose(), "rt-1");
    assert_eq!(kept.scopes(), &scopes);
}
