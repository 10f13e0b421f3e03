//! Assertions with one fault each.

use super::*;

/// Each wrong claim.
fn wrong_claims() -> Vec<(Value, Reason)> {
    let elsewhere = [
        json!(format!("{ISSUER}/")),
        json!(format!("{ISSUER}/token/")),
        json!(format!("{ISSUER}/par")),
        json!("https://evil.example"),
        json!("https://evil.example/token"),
        json!("robot"),
        json!([ISSUER, "https://evil.example"]),
        json!([ISSUER, ISSUER]),
        json!([ISSUER, format!("{ISSUER}/token")]),
        json!([]),
    ];
    let unreadable = [json!([ISSUER, 1]), json!([[ISSUER]]), json!({ "aud": ISSUER })];
    let mut table = vec![
        (json!({ "exp": NOW - 10 }), Reason::ClientAssertionExpired),
        (json!({ "exp": NOW + 3611 }), Reason::ClientAssertionLivesTooLong),
        (json!({ "exp": null }), Reason::ClientAssertionMalformed),
        (json!({ "jti": null }), Reason::ClientAssertionMalformed),
        (json!({ "jti": "" }), Reason::ClientAssertionMalformed),
        (json!({ "iat": NOW + 11 }), Reason::ClientAssertionNotYetValid),
        (json!({ "nbf": NOW + 11 }), Reason::ClientAssertionNotYetValid),
        (json!({ "iss": "web" }), Reason::ClientAssertionOfAnotherClient),
        (json!({ "iss": ISSUER }), Reason::ClientAssertionOfAnotherClient),
        (
            json!({ "sub": "android", "iss": "android" }),
            Reason::ClientAssertionSignatureMismatch,
        ),
        (
            json!({ "sub": "unregistered", "iss": "unregistered" }),
            Reason::ClientUnknown,
        ),
        (
            json!({ "sub": "web", "iss": "web" }),
            Reason::ClientAuthenticationMismatch,
        ),
        (
            json!({ "sub": "native", "iss": "native" }),
            Reason::ClientAuthenticationMismatch,
        ),
        (json!({ "sub": null }), Reason::ClientAssertionMalformed),
        (json!({ "sub": "" }), Reason::ClientAssertionMalformed),
    ];
    table.extend(elsewhere.map(|aud| (json!({ "aud": aud }), Reason::ClientAssertionForAnotherServer)));
    table.extend(unreadable.map(|aud| (json!({ "aud": aud }), Reason::ClientAssertionMalformed)));
    table
}

/// O6, 11, 65, 67, 68, 73: each wrong header, each wrong signature, and malformed tokens.
fn wrong_tokens() -> Vec<(String, Reason)> {
    let headed = |members: Value| forge(&with(header(), &members), &claims(), &private_key(7));
    let thief = public_key(9).to_json();
    let thief = serde_json::from_str::<Value>(&thief).unwrap();
    let es256 = ClientAssertion::new(
        "robot".parse().unwrap(),
        &SeededEntropy::new(4),
        epoch() + Duration::from_secs(NOW),
    );
    let es256 = es256.sign(&other_key(), &ISSUER.parse().unwrap()).unwrap();
    let [head, rest] = <[&str; 2]>::try_from(es256.expose().split('.').take(2).collect::<Vec<_>>()).unwrap();
    vec![
        (
            forge(&header(), &claims(), &private_key(9)),
            Reason::ClientAssertionSignatureMismatch,
        ),
        (
            headed(json!({ "kid": "another" })),
            Reason::ClientAssertionKeyUnknown,
        ),
        (
            forge(
                &with(header(), &json!({ "jwk": thief })),
                &claims(),
                &private_key(9),
            ),
            Reason::ClientAssertionSignatureMismatch,
        ),
        // a key of the client, under another algorithm
        (es256.expose().to_owned(), Reason::ClientAssertionKeyUnknown),
        (format!("{head}.{rest}."), Reason::ClientAssertionKeyUnknown),
        (headed(json!({ "alg": "none" })), Reason::ClientAssertionAlgorithm),
        (
            headed(json!({ "alg": "HS256" })),
            Reason::ClientAssertionAlgorithm,
        ),
        (
            headed(json!({ "alg": "ES256" })),
            Reason::ClientAssertionAlgorithm,
        ),
        (
            headed(json!({ "typ": "at+jwt" })),
            Reason::ClientAssertionOfAnotherType,
        ),
        (
            headed(json!({ "typ": "dpop+jwt" })),
            Reason::ClientAssertionOfAnotherType,
        ),
        (
            headed(json!({ "crit": ["exp"] })),
            Reason::ClientAssertionMalformed,
        ),
        ("a.b.c".to_owned(), Reason::ClientAssertionMalformed),
        ("a".to_owned(), Reason::ClientAssertionMalformed),
    ]
}

fn epoch() -> SystemTime {
    SystemTime::UNIX_EPOCH
}

/// O6, 11, 56, 65, 67, 68, 73, 74, 75: every fault gets the same response and a log entry of its
/// own, and no refused assertion uses up its `jti`.
#[tokio::test]
async fn refused_assertion_does_not_use_up_jti() {
    let (fixture, replays) = server().await;
    let forged = wrong_claims()
        .into_iter()
        .map(|(members, expected)| (assertion(&members), expected));
    for (token, expected) in forged.chain(wrong_tokens()) {
        assert_refused(&present(&fixture.server, &token).await, expected);
    }
    assert_eq!(replays.asked.load(Ordering::Relaxed), 0);
    assert_accepted(&present(&fixture.server, &assertion(&json!({}))).await);
}

/// O32: an assertion as stock clients send it: for the token endpoint, in an array of one, for an
/// hour, with fractions of seconds. A strict server refuses what FAPI 2.0 does not allow.
#[tokio::test]
async fn strict_server_refuses_assertions_of_stock_clients() {
    let endpoint = format!("{ISSUER}/token");
    let shapes = [
        (json!({ "aud": [ISSUER] }), None),
        (
            json!({ "aud": endpoint }),
            Some(Reason::ClientAssertionForAnotherServer),
        ),
        (
            json!({ "aud": [endpoint] }),
            Some(Reason::ClientAssertionForAnotherServer),
        ),
        (
            json!({ "exp": NOW + 3600 }),
            Some(Reason::ClientAssertionLivesTooLong),
        ),
        (
            json!({ "exp": NOW + 311 }),
            Some(Reason::ClientAssertionLivesTooLong),
        ),
        (json!({ "iat": 1_799_999_999.25, "exp": 1_800_000_060.75 }), None),
    ];
    let (stock, _) = server().await;
    let strict = configured(&Arc::default(), |builder| builder.with_strict_client_assertions()).await;
    for (index, (members, refusal)) in shapes.into_iter().enumerate() {
        let token = assertion(&with(members, &json!({ "jti": index.to_string() })));
        assert_accepted(&present(&stock.server, &token).await);
        let answer = present(&strict.server, &token).await;
        match refusal {
            None => assert_accepted(&answer),
            Some(reason) => assert_refused(&answer, reason),
        }
    }
}
