//! Token requests of the client, and the responses.

use super::*;

/// O6: the code is sent with its redirect URI and verifier; the client authenticates in exactly one
/// way.
#[test]
fn a_code_is_redeemed_in_one_of_three_ways() {
    let secret = || "p%a+ss: w".parse().unwrap();
    let code = |request: &Request<Bytes>| form(request).into_iter().take(4).collect::<Vec<_>>();
    let credentials = |request: &Request<Bytes>| form(request).into_iter().skip(4).collect::<Vec<_>>();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());

    let public = client();
    let (request, _) = start(grant(&public).0);
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
    let (request, _) = start(grant(&post).0);
    assert_eq!(
        credentials(&request),
        [pair("client_id", "demo web"), pair("client_secret", "p%a+ss: w")]
    );
    assert!(!request.headers().contains_key("authorization"));

    let basic = client().with_credentials(ClientCredentials::Basic(secret()));
    let (request, _) = start(grant(&basic).0);
    assert_eq!(credentials(&request), []);
    let header = oauth_core::basic::BasicCredentials::parse(&request.headers()["authorization"]).unwrap();
    assert_eq!(
        (header.client_id.as_str(), header.secret.expose()),
        ("demo web", "p%a+ss: w")
    );
    assert!(request.headers()["authorization"].is_sensitive());
}

/// O6, 11: a client with a key sends an assertion for the issuer of its provider, and no secret.
#[test]
fn client_with_key_sends_assertion() {
    let key = SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(5))).unwrap();
    let (issuer, client_id): (Issuer, ClientId) =
        ("https://as.example".parse().unwrap(), "demo web".parse().unwrap());
    let client = client().with_credentials(ClientCredentials::PrivateKey(key.clone()));

    let (request, _) = start(client.refresh(&"rt".parse().unwrap(), &Scopes::default()));
    assert!(!request.headers().contains_key("authorization"));
    let sent = form(&request);
    let pairs: Vec<_> = sent
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let [.., (assertion, signed)] = pairs[..] else {
        panic!("no parameters")
    };
    let expected = [
        ("grant_type", "refresh_token"),
        ("client_id", "demo web"),
        ("refresh_token", "rt"),
        (
            "client_assertion_type",
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        ),
        (assertion, signed),
    ];
    assert_eq!(pairs, expected);
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let policy = ClientAssertionPolicy::new(issuer, client_id);
    let first = ClientAssertion::verify(signed, &keys, &policy, now()).unwrap();
    assert_eq!(first.expires_at, now() + Duration::from_secs(60));

    // each request has a fresh assertion, because a server accepts it once
    let (request, _) = start(client.client_credentials(&Scopes::default()));
    let sent = form(&request);
    let second = ClientAssertion::verify(&sent.last().unwrap().1, &keys, &policy, now()).unwrap();
    assert_ne!(first.jti, second.jti);
}

/// O6, 12: a client with a certificate sends its id to the mTLS endpoint, and no other credential.
#[test]
fn client_with_certificate_sends_only_its_id() {
    let client = client().with_credentials(ClientCredentials::Certificate);
    let (request, _) = start(client.client_credentials(&"read:charges".parse().unwrap()));
    assert_eq!(request.uri(), "https://as.example/token");
    assert!(!request.headers().contains_key("authorization"));
    assert_eq!(
        request.body(),
        "grant_type=client_credentials&scope=read%3Acharges&client_id=demo+web"
    );
    let document = r#"{"issuer":"https://as.example","authorization_endpoint":"https://as.example/authorize",
        "token_endpoint":"https://as.example/token","response_types_supported":["code"],
        "code_challenge_methods_supported":["S256"],
        "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.as.example/token"}}"#;
    let provider =
        Provider::from_metadata(&"https://as.example".parse().unwrap(), document.as_bytes()).unwrap();
    for (credentials, endpoint) in [
        (ClientCredentials::Certificate, "https://mtls.as.example/token"),
        (ClientCredentials::None, "https://as.example/token"),
    ] {
        let client = Client::new(provider.clone(), "demo web".parse().unwrap()).with_credentials(credentials);
        let (request, _) = start(client.client_credentials(&Scopes::default()));
        assert_eq!(request.uri(), endpoint);
    }
}

/// O8: token responses are parsed strictly where security needs it and leniently where RFC 6749
/// requires it.
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
        r#"{"access_token":"at","token_type":"Bearer","scope":"a  b"}"#,
    ] {
        assert_eq!(exchange(200, body).unwrap_err(), TokenError::Malformed, "{body}");
    }
    let mac = exchange(200, r#"{"access_token":"at","token_type":"mac"}"#).unwrap_err();
    assert_eq!(mac, TokenError::WrongTokenType);
}

/// O8: whole seconds of `expires_in` are understood in every spelling, and other values are
/// ignored. The server has already rotated, so that an error would lose the tokens.
#[test]
fn malformed_lifetime_does_not_lose_tokens() {
    let rows = [
        ("0", Some(0)),
        ("3600", Some(3600)),
        ("3600.0", Some(3600)),
        ("3.6e3", Some(3600)),
        (r#""3600""#, Some(3600)),
        (r#""36\u00300""#, Some(3600)),
        ("4294967295", Some(4_294_967_295)),
        ("4294967296", None),
        ("18446744073709551616", None),
        ("1e300", None),
        (r#""4294967296""#, None),
        ("-1", None),
        ("-0.5", None),
        ("3600.5", None),
        (r#""3600.0""#, None),
        (r#""-1""#, None),
        (r#""+3600""#, None),
        (r#"" 3600""#, None),
        (r#""""#, None),
        (r#""an hour""#, None),
        ("null", None),
        ("true", None),
        ("[3600]", None),
        (r#"{"seconds":3600}"#, None),
    ];
    for (written, expected) in rows {
        let body = format!(
            r#"{{"access_token":"at","token_type":"Bearer","refresh_token":"rt-2","expires_in":{written}}}"#
        );
        let tokens = exchange(200, &body).unwrap();
        assert_eq!(tokens.refresh_token().unwrap().expose(), "rt-2", "{written}");
        let expected = expected.map(|seconds| now() + Duration::from_secs(seconds));
        assert_eq!(tokens.expires_at(), expected, "{written}");
    }
    // a duplicate member is refused
    let twice = r#"{"access_token":"at","token_type":"Bearer","expires_in":1,"expires_in":1}"#;
    assert_eq!(exchange(200, twice).unwrap_err(), TokenError::Malformed);
}

/// O8: `Debug` output shows no token, the ID token included.
#[test]
fn tokens_are_redacted_in_debug() {
    let body = r#"{"access_token":"at-1","token_type":"Bearer","refresh_token":"rt-1","id_token":"id-1"}"#;
    let printed = format!("{:?}", exchange(200, body).unwrap());
    for secret in ["at-1", "rt-1", "id-1"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}

/// O6, 92, 95: a code and the client credentials go only to the server of their sign-in, also with
/// several sign-ins at different servers.
#[test]
fn a_code_and_a_secret_go_to_their_own_server_only() {
    let elsewhere = |text: &str| text.replace("as.example", "other.example").parse().unwrap();
    let other = Provider::new(
        "https://other.example".parse().unwrap(),
        elsewhere("https://as.example/authorize"),
        elsewhere("https://as.example/token"),
    );
    let here = client().with_credentials(ClientCredentials::Basic("the secret here".parse().unwrap()));
    let there = Client::new(other, "demo".parse().unwrap())
        .with_credentials(ClientCredentials::Post("the secret there".parse().unwrap()));
    let (_, asked_here) = authorize(&here, &asking("openid"));
    let (_, asked_there) = there.authorize(&asking("openid"), &OsEntropy, now()).unwrap();

    let answer_of = |pending: &PendingAuthorization, issuer: &str| {
        format!(
            "code=c&state={}&iss=https%3A%2F%2F{issuer}.example",
            pending.state()
        )
    };
    let (query_here, query_there) = (answer_of(&asked_here, "as"), answer_of(&asked_there, "other"));
    let (redeemed_there, _) = start(asked_there.finish(&query_there, now()).unwrap());
    let (redeemed_here, _) = start(asked_here.finish(&query_here, now()).unwrap());
    assert_eq!(redeemed_here.uri(), "https://as.example/token");
    assert!(redeemed_here.headers().contains_key("authorization"));
    assert!(
        form(&redeemed_here)
            .iter()
            .all(|(name, _)| name != "client_secret")
    );
    assert_eq!(redeemed_there.uri(), "https://other.example/token");
    assert!(!redeemed_there.headers().contains_key("authorization"));
    let secret = ("client_secret".to_owned(), "the secret there".to_owned());
    assert!(form(&redeemed_there).contains(&secret));
}

/// O26: the error codes of RFC 6749 §5.2 are recognized; other responses are failures.
#[test]
fn token_endpoint_refusal_is_not_a_failure() {
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

/// O9: a new refresh token replaces the old one; without a new one the old one stays.
#[test]
fn a_refresh_takes_the_new_token_or_keeps_the_old() {
    let client = client();
    let scopes = "openid".parse().unwrap();
    let refresh = |body: &str| {
        let (request, pending) = start(client.refresh(&"rt-1".parse().unwrap(), &scopes));
        let pairs = form(&request);
        assert_eq!(pairs[0].1, "refresh_token");
        assert_eq!(pairs[2], ("refresh_token".to_owned(), "rt-1".to_owned()));
        pending.finish(answer(200, body), now()).unwrap()
    };
    let rotated = refresh(r#"{"access_token":"at","token_type":"Bearer","refresh_token":"rt-2"}"#);
    assert_eq!(rotated.refresh_token().unwrap().expose(), "rt-2");
    let kept = refresh(r#"{"access_token":"at","token_type":"Bearer"}"#);
    assert_eq!(kept.refresh_token().unwrap().expose(), "rt-1");
    assert_eq!(kept.scopes(), &scopes);
}

/// O9, O14, 49: a refresh repeats the resources of the first request, along the whole chain.
#[test]
fn a_refresh_asks_for_the_same_resources() {
    let resources = |request: &Request<Bytes>| -> Vec<String> {
        let params = Params::parse(request.body()).unwrap();
        params.all("resource").map(str::to_owned).collect()
    };
    let (api, files) = ("https://api.example", "https://files.example");
    for expected in [&[][..], &[api], &[files, api]] {
        let redeemed = grant(&client()).0;
        let stored = client().refresh(&"rt-1".parse().unwrap(), &Scopes::default());
        for call in [redeemed, stored] {
            let named = expected.iter().map(|resource| resource.parse().unwrap());
            let mut call = named.fold(call, |call, resource| call.with_resource(&resource));
            for _ in 0..3 {
                let (request, pending) = start(call);
                assert_eq!(resources(&request), expected);
                let body = r#"{"access_token":"at","token_type":"Bearer","refresh_token":"rt-2"}"#;
                let tokens = pending.finish(answer(200, body), now()).unwrap();
                call = tokens.refresh().unwrap();
            }
        }
    }
}
