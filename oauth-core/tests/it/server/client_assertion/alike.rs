//! Nobody tells by the time it takes which clients exist, and which of them sign.
#![expect(clippy::disallowed_methods, reason = "this is about the time that passes")]

use std::time::{Duration, Instant};

use super::*;

/// O6, 10, 11: an assertion that is in order but for its key costs one signature, whoever it is said to be from: a client with that
/// key, one with a key of another algorithm, one with a secret, and nobody.
#[tokio::test]
async fn an_assertion_of_nobody_costs_a_signature() {
    let (fixture, _) = server().await;
    let from = |client: &str, alg: &str| {
        let claims = with(claims(), &json!({ "iss": client, "sub": client }));
        forge(&with(header(), &json!({ "alg": alg })), &claims, &private_key(9))
    };
    let assertions = [
        ("robot", "EdDSA", "client_assertion_signature_mismatch"),
        ("nobody", "EdDSA", "client_unknown"),
        ("service", "EdDSA", "client_authentication_method_mismatch"),
        ("robot", "ES256", "client_assertion_algorithm"),
        ("nobody", "ES256", "client_unknown"),
    ]
    .map(|(client, alg, reason)| (from(client, alg), alg, reason));
    let mut shortest = [Duration::MAX; 5];
    for _ in 0..100 {
        for ((assertion, _, expected), shortest) in assertions.iter().zip(&mut shortest) {
            let begun = Instant::now();
            let answer = present(&fixture.server, assertion).await;
            *shortest = begun.elapsed().min(*shortest);
            assert_eq!(reason(&answer), *expected);
        }
    }
    // what is cheap: a signature is not looked at once the claims are wrong
    let late = with(claims(), &json!({ "exp": NOW - 60 }));
    let late = forge(&header(), &late, &private_key(7));
    let mut cheap = Duration::MAX;
    for _ in 0..100 {
        let begun = Instant::now();
        let answer = present(&fixture.server, &late).await;
        cheap = begun.elapsed().min(cheap);
        assert_eq!(reason(&answer), "client_assertion_expired");
    }
    let signature = shortest[0].saturating_sub(cheap);
    for (index, of) in [(1, 0), (2, 0), (4, 3)] {
        let difference = shortest[index].abs_diff(shortest[of]);
        assert!(difference * 2 < signature, "{index}: {shortest:?}, {cheap:?}");
    }
}
