//! Verified tokens in the hands of an attacker.

use super::*;

/// O20, 101, DP12: the earlier use of a token by its owner does not help a caller without the key.
#[tokio::test]
async fn cached_bound_token_still_needs_proof() {
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
