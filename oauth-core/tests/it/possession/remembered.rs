//! Retention of used proofs.

use super::*;

/// O20, DP11, DP13: a proof is remembered until it is too old, and one minute longer for servers
/// with slow clocks; also a proof of a client with a fast clock.
#[tokio::test]
async fn proof_is_remembered_while_acceptable() {
    let own = key(1);
    let token = token(Some(jkt(&own)));
    let second = Duration::from_secs(1);
    for issued_at in [now(), now() + 10 * second] {
        let replays = Arc::new(MemoryReplays::new());
        let api = api_over(Arc::clone(&replays) as Arc<dyn ReplayStore>);
        let proof = Proof {
            issued_at,
            ..made(&token)
        };
        let request = request("DPoP", &token, &[value(&proof, &own)]);
        assert!(api.authenticate(&request, now()).await.is_ok());
        for (at, reason) in [
            (issued_at + 59 * second, ProofError::Replayed),
            (issued_at + 60 * second, ProofError::TooOld),
        ] {
            for purged_at in [at, issued_at + 119 * second] {
                assert_eq!(replays.purge_replays(purged_at).await.unwrap(), 0);
                let refused = api.authenticate(&request, at).await.unwrap_err();
                assert_eq!(refused.reason(), &ChallengeReason::InvalidProof(reason), "{at:?}");
            }
        }
        assert_eq!(
            replays.purge_replays(issued_at + 120 * second).await.unwrap(),
            1,
            "and no longer"
        );
    }
}
