//! Key rotation of an issuer, and floods of unknown key ids.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::Signer as _;
use futures_util::future::join_all;

use super::*;

/// O15, O22, 77: a token of a new key is verified at the cost of one fetch.
#[tokio::test]
async fn first_token_of_new_key_causes_one_fetch() {
    let issuer = Issuer::publishing(&[1]);
    let keys = issuer.keys();
    assert_eq!(verify(&keys, 1, now()).await, PASSES);
    // also right after a fetch, which was not for a rotation
    issuer.publishes(&[2]);
    assert_eq!(verify(&keys, 2, now()).await, PASSES);
    assert_eq!(issuer.asked(), 2);
    assert_eq!(verify(&keys, 1, now()).await, UNKNOWN);
    assert_eq!(verify(&keys, 2, now() + HOUR - TICK).await, PASSES);
    assert_eq!(issuer.asked(), 2);
}

/// O15, O22, 77: 32 concurrent callers with the new key wait for one fetch; callers with the old
/// key do not wait.
#[tokio::test]
async fn rotation_with_32_callers_causes_one_fetch() {
    let issuer = Issuer::publishing(&[1]);
    let keys = issuer.keys();
    assert_eq!(verify(&keys, 1, now()).await, PASSES);
    issuer.publishes(&[1, 2]);
    let callers = (0..32).map(|number| {
        let keys = keys.clone();
        let seed = 1 + number % 2;
        tokio::spawn(async move { verify(&keys, seed, now() + Duration::from_secs(number.into())).await })
    });
    for verified in join_all(callers).await {
        assert_eq!(verified.unwrap(), PASSES);
    }
    assert_eq!(issuer.asked(), 2);
}

/// O22, 77: 10,000 unknown key ids cause one fetch per minute, and other callers are not refused.
#[tokio::test]
async fn unknown_key_ids_cause_one_fetch_per_minute() {
    let issuer = Issuer::publishing(&[1]);
    let keys = issuer.keys();
    // the first fetch of a set is not counted as one for an unknown key
    assert_eq!(verify(&keys, 99, now()).await, UNKNOWN);
    assert_eq!(issuer.asked(), 1);
    let policy = AccessTokenPolicy::new(ISSUER.parse().unwrap(), API.parse().unwrap());
    let strange = token(99, now());
    for number in 0..10_000_u64 {
        let now = now() + Duration::from_millis(number * 18);
        let check = |keys: &KeySet| AccessTokenClaims::verify(&strange, keys, &policy, now);
        let refused = keys.verify(check, now).await;
        assert!(matches!(refused, Err(VerifyError::Refused(JwtError::UnknownKey))));
    }
    // three minutes
    assert_eq!(issuer.asked(), 1 + 3);
    assert_eq!(verify(&keys, 1, now() + MINUTE * 3).await, PASSES);
    assert_eq!(issuer.asked(), 4);
}

/// O22, 77: the cool-down ends to the nanosecond.
#[tokio::test]
async fn the_cool_down_ends_at_the_exact_instant() {
    for (asked_for, cool_down) in [
        (None, MINUTE),
        (Some(Duration::ZERO), Duration::from_secs(1)),
        (Some(Duration::from_secs(600)), Duration::from_secs(600)),
    ] {
        let issuer = Issuer::publishing(&[1]);
        let keys = asked_for.map_or_else(|| issuer.keys(), |span| issuer.keys().with_cool_down(span));
        keys.keys(now()).await.unwrap();
        assert_eq!(verify(&keys, 9, now()).await, UNKNOWN);
        assert_eq!(verify(&keys, 9, now() + cool_down - TICK).await, UNKNOWN);
        assert_eq!(issuer.asked(), 2);
        assert_eq!(verify(&keys, 9, now() + cool_down).await, UNKNOWN);
        assert_eq!(issuer.asked(), 3);
    }
}

/// O15, 77: no other fault of a token causes a fetch.
#[tokio::test]
async fn other_token_faults_cause_no_fetch() {
    let issuer = Issuer::publishing(&[1]);
    let keys = issuer.keys();
    keys.keys(now()).await.unwrap();
    for fault in [
        JwtError::Malformed,
        JwtError::UnsupportedAlgorithm,
        JwtError::UnsupportedHeader,
        JwtError::WrongType,
        JwtError::AmbiguousKey,
        JwtError::SignatureMismatch,
        JwtError::WrongIssuer,
        JwtError::WrongAudience,
        JwtError::Expired,
        JwtError::NotYetValid,
        JwtError::WrongNonce,
    ] {
        let verified = keys.verify(|_| Err::<(), _>(fault), now()).await;
        assert!(matches!(verified, Err(VerifyError::Refused(refused)) if refused == fault));
    }
    assert_eq!(issuer.asked(), 1);
}

/// A key set without key ids.
fn nameless(seeds: &[u8]) -> String {
    let mut set: serde_json::Value = serde_json::from_str(&document(seeds)).unwrap();
    let keys = set.get_mut("keys").and_then(|keys| keys.as_array_mut());
    for key in keys.unwrap() {
        key.as_object_mut().unwrap().remove("kid");
    }
    set.to_string()
}

/// A token without a key id.
fn unnamed(seed: u8, now: SystemTime) -> String {
    let named = token(seed, now);
    let claims = named.split('.').nth(1).unwrap();
    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"EdDSA","typ":"at+jwt"}"#);
    let signed = format!("{header}.{claims}");
    let signature = ed25519_dalek::SigningKey::from_bytes(&[seed; 32]).sign(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
}

async fn verify_unnamed(keys: &RemoteKeySet, seed: u8, now: SystemTime) -> Result<(), JwtError> {
    let token = unnamed(seed, now);
    let policy = AccessTokenPolicy::new(ISSUER.parse().unwrap(), API.parse().unwrap());
    let check = |keys: &KeySet| AccessTokenClaims::verify(&token, keys, &policy, now);
    match keys.verify(check, now).await {
        Ok(claims) => {
            assert_eq!(claims.terms.subject.as_str(), "ada");
            Ok(())
        }
        Err(VerifyError::Refused(fault)) => Err(fault),
        Err(other) => unreachable!("{other}"),
    }
}

const MISMATCH: Result<(), JwtError> = Err(JwtError::SignatureMismatch);

/// O15, O22, 77: keys without ids rotate too: a signature that no key verifies causes a fetch.
#[tokio::test]
async fn keys_without_id_rotate() {
    let issuer = Issuer::with(StubResponse(200, "", nameless(&[1])), 1000);
    let keys = issuer.keys();
    assert_eq!(verify_unnamed(&keys, 1, now()).await, Ok(()));
    issuer.says(StubResponse(200, "", nameless(&[2])));
    assert_eq!(verify_unnamed(&keys, 2, now()).await, Ok(()));
    assert_eq!(issuer.asked(), 2);
    // forgeries use up the one fetch per minute, and no more
    for second in 0..60 {
        let now = now() + Duration::from_secs(second);
        assert_eq!(verify_unnamed(&keys, 3, now).await, MISMATCH);
    }
    assert_eq!(issuer.asked(), 2);
    issuer.says(StubResponse(200, "", nameless(&[3])));
    assert_eq!(verify_unnamed(&keys, 3, now() + MINUTE).await, Ok(()));
    assert_eq!(issuer.asked(), 3);
}

/// O15, O22, 77: a token without a key id passes while old and new key are both published; with
/// more than three keys it is refused.
#[tokio::test]
async fn keys_without_id_may_overlap() {
    let issuer = Issuer::with(StubResponse(200, "", nameless(&[1])), 1000);
    let keys = issuer.keys();
    assert_eq!(verify_unnamed(&keys, 1, now()).await, Ok(()));
    issuer.says(StubResponse(200, "", nameless(&[1, 2])));
    for (seed, expected) in [(2, Ok(())), (1, Ok(())), (3, MISMATCH)] {
        assert_eq!(verify_unnamed(&keys, seed, now()).await, expected, "{seed}");
    }
    assert_eq!(issuer.asked(), 2);
    issuer.says(StubResponse(200, "", nameless(&[2])));
    let later = now() + HOUR;
    for (seed, expected) in [(2, Ok(())), (1, MISMATCH)] {
        assert_eq!(verify_unnamed(&keys, seed, later).await, expected, "{seed}");
    }
    for (seeds, expected) in [
        (&[1, 2, 3][..], Ok(())),
        (&[1, 2, 3, 4], Err(JwtError::AmbiguousKey)),
    ] {
        let keys = Issuer::with(StubResponse(200, "", nameless(seeds)), 1000).keys();
        for seed in 1..=3 {
            assert_eq!(verify_unnamed(&keys, seed, now()).await, expected, "{seed}");
        }
    }
}
