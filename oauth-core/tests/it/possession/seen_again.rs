//! Tokens that the guard has seen before, in the hands of somebody else.

use super::*;

/// O20, 101, DP12: that its owner was here proves nothing of who comes next.
#[tokio::test]
async fn a_bound_token_that_was_seen_is_of_no_use_to_a_thief() {
    let (api, own, thief) = (api(), key(1), key(2));
    let token = token(Some(jkt(&own)));
    let proof = value(&made(&token), &own);
    let first = request("DPoP", &token, std::slice::from_ref(&proof));
    assert!(present(&api, &first).await.is_ok());
    let attempts = [
        ("DPoP", vec![], ChallengeReason::InvalidProof(ProofError::Missing)),
        (
            "DPoP",
            vec![proof],
            ChallengeReason::InvalidProof(ProofError::Replayed),
        ),
        (
            "DPoP",
            vec![value(&made(&token), &thief)],
            ChallengeReason::InvalidProof(ProofError::WrongKey),
        ),
        ("Bearer", vec![], ChallengeReason::WrongScheme),
        (
            "Bearer",
            vec![value(&made(&token), &own)],
            ChallengeReason::WrongScheme,
        ),
    ];
    for (scheme, proofs, reason) in attempts {
        let refused = present(&api, &request(scheme, &token, &proofs))
            .await
            .unwrap_err();
        assert_eq!(refused.reason(), &reason);
    }
    let again = value(&made(&token), &own);
    assert!(present(&api, &request("DPoP", &token, &[again])).await.is_ok());
}
