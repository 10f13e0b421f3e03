//! Timing: a refused assertion does not reveal which clients exist, and which of them sign.

use oauth_core::jose::verifications;

use super::*;

/// O6, 10, 11: an assertion that is valid but for its signature costs one verification of its
/// algorithm, for a client with that key, with a key of another algorithm, with a secret, and for
/// an unknown one. An assertion with wrong claims costs none.
#[tokio::test]
async fn assertion_of_unknown_client_costs_a_verification() {
    let (fixture, _) = server().await;
    let from = |client: &str, alg: &str| {
        let claims = with(claims(), &json!({ "iss": client, "sub": client }));
        forge(&with(header(), &json!({ "alg": alg })), &claims, &private_key(9))
    };
    let late = with(claims(), &json!({ "exp": NOW - 60 }));
    let late = forge(&header(), &late, &private_key(7));
    let (eddsa, es256) = (Some(Algorithm::EdDsa), Some(Algorithm::Es256));
    for (assertion, reason_given, verified) in [
        (
            from("robot", "EdDSA"),
            "client_assertion_signature_mismatch",
            eddsa,
        ),
        (from("unregistered", "EdDSA"), "client_unknown", eddsa),
        (
            from("service", "EdDSA"),
            "client_authentication_method_mismatch",
            eddsa,
        ),
        (from("robot", "ES256"), "client_assertion_algorithm", es256),
        (from("unregistered", "ES256"), "client_unknown", es256),
        (late, "client_assertion_expired", None),
    ] {
        drop(verifications::take());
        let answer = present(&fixture.server, &assertion).await;
        assert_eq!(reason(&answer), reason_given);
        assert_eq!(verifications::take(), Vec::from_iter(verified), "{reason_given}");
    }
}
