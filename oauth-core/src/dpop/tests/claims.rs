//! Attacks on the claims.

use super::*;

/// DP8: `htm` must equal the method, including letter case.
#[test]
fn a_proof_is_for_one_method() {
    for method in ["GET", "post", "Post", "PUT", "", "POST "] {
        check(&changed("POST", method), Err(ProofError::WrongMethod));
    }
}

/// DP9: `htu` must be equivalent to the URL of the request. A query has no effect.
#[test]
fn a_proof_is_for_one_place() {
    for uri in [
        "https://api.example/v1/charges?limit=2",
        "https://api.example/v1/charges#top",
        "HTTPS://API.EXAMPLE:443/v1/./charge%73",
    ] {
        check(&changed(URI, uri), Ok(()));
    }
    for uri in [
        "https://api.example/v1/refunds",
        "https://api.example/v1/charges/",
        "https://api.example.evil.com/v1/charges",
        "https://evil.com/v1/charges",
        "http://api.example/v1/charges",
        "https://api.example:8443/v1/charges",
        "https://ada@api.example/v1/charges",
        "/v1/charges",
        "",
    ] {
        check(&changed(URI, uri), Err(ProofError::WrongUri));
    }
}

/// DP10, DP16: if nonces are required, a proof without a nonce, or with the nonce of another
/// server, is refused.
#[test]
fn a_proof_has_the_nonce_that_it_was_asked_for() {
    let key = NonceKey::from_bytes([7; 32]);
    let name = "https://api.example";
    let nonces = Nonces::of_resource_server(&key, &name.parse().unwrap());
    let policy = ProofPolicy::new().with_nonces(nonces.clone());
    let with = |nonce: &str| {
        let proof = forge(&header(), &and(&format!("\"nonce\":\"{nonce}\"")));
        verify_with(&policy, &proof, now())
    };
    assert_eq!(
        verify_with(&policy, &proper(), now()),
        Err(ProofError::NonceMissing)
    );
    let null = forge(&header(), &and("\"nonce\":null"));
    assert_eq!(verify_with(&policy, &null, now()), Err(ProofError::NonceMissing));
    let of_the_other = Nonces::of_authorization_server(&key, &name.parse().unwrap()).newest(now());
    let late = nonces.newest(now() - Duration::from_secs(300));
    for nonce in ["", "1", of_the_other.as_str(), late.as_str()] {
        assert_eq!(with(nonce), Err(ProofError::NonceMismatch), "{nonce}");
    }
    assert!(!with(&nonces.newest(now())).unwrap().wants_nonce());
    let older = nonces.newest(now() - Duration::from_secs(60));
    assert!(with(&older).unwrap().wants_nonce());
    for error in [ProofError::NonceMissing, ProofError::NonceMismatch] {
        assert_eq!((error.wants_nonce(), error.code()), (true, "use_dpop_nonce"));
    }
    assert_eq!(ProofError::TooOld.code(), "invalid_dpop_proof");
    assert_eq!(ProofError::WrongKey.code(), "invalid_token");
    // a policy without nonces ignores `nonce`
    check(&and("\"nonce\":\"1\""), Ok(()));
}

/// DP11: a proof is accepted if it is less than a minute old and at most ten seconds ahead. `exp`
/// and `nbf` are checked if present.
#[test]
fn a_proof_is_of_this_minute() {
    let at = |iat: u64| changed("1800000000", &iat.to_string());
    check(&at(1_799_999_941), Ok(()));
    check(&at(1_799_999_940), Err(ProofError::TooOld));
    check(&at(1_799_996_400), Err(ProofError::TooOld));
    check(&at(0), Err(ProofError::TooOld));
    check(&at(1_799_999_990), Ok(()));
    check(&at(1_800_000_010), Ok(()));
    check(&at(1_800_000_011), Err(ProofError::NotYetValid));
    check(&at(1_800_003_600), Err(ProofError::NotYetValid));
    check(&at(253_402_300_799), Err(ProofError::NotYetValid));
    check(&and("\"exp\":1800000060,\"nbf\":1799999990"), Ok(()));
    check(&and("\"exp\":1799999991"), Ok(()));
    check(&and("\"exp\":1799999990"), Err(ProofError::TooOld));
    check(&and("\"nbf\":1800000010"), Ok(()));
    check(&and("\"nbf\":1800000011"), Err(ProofError::NotYetValid));

    let tick = Duration::from_nanos(1);
    for (window, longest) in [(60, 60), (5, 5), (300, 300), (3600, 300)] {
        let policy = ProofPolicy::new().with_window(Duration::from_secs(window));
        let end = now() + Duration::from_secs(longest);
        assert!(verify_with(&policy, &proper(), end - tick).is_ok(), "{window}");
        assert_eq!(verify_with(&policy, &proper(), end), Err(ProofError::TooOld));
    }
}

/// DP12: `ath` must be the hash of the presented token.
#[test]
fn a_proof_is_for_one_access_token() {
    let hash = crate::secret::TokenHash::new(TOKEN).to_string();
    let other = crate::secret::TokenHash::new("at_of_eve").to_string();
    for ath in ["\"\"".to_owned(), format!("\"{other}\""), "null".to_owned()] {
        check(
            &changed(&format!("\"{hash}\""), &ath),
            Err(ProofError::WrongAccessToken),
        );
    }
    check(
        &changed(&format!(",\"ath\":\"{hash}\""), ""),
        Err(ProofError::WrongAccessToken),
    );
    check(
        &changed(&hash, &format!("{hash}=")),
        Err(ProofError::WrongAccessToken),
    );
    check(
        &changed(&hash, &hash.to_lowercase()),
        Err(ProofError::WrongAccessToken),
    );
}

/// DP13: the replay key depends on key, `jti` and URL. It is stored until one minute after the
/// proof becomes too old.
#[test]
fn a_proof_is_remembered_by_key_name_and_place() {
    let proven = verify(&proper()).unwrap();
    let end = now() + Duration::from_secs(120);
    assert_eq!(proven.replayable_until(), end);
    assert_eq!(verify(&proper()).unwrap().replay_key(), proven.replay_key());

    // the time is counted from `iat`, not from the request
    let ahead = verify(&forge(&header(), &changed("1800000000", "1800000010"))).unwrap();
    assert_eq!(ahead.replayable_until(), end + Duration::from_secs(10));

    let other_key = header().replace(&jwk(&key()), &jwk(&key_of(8)));
    let other_key = verify(&signed_by(&key_of(8), &other_key, &format!("{{{}}}", claims()))).unwrap();
    assert_ne!(other_key.replay_key(), proven.replay_key());
    let other_name = verify(&forge(&header(), &changed("\"1\"", "\"2\""))).unwrap();
    assert_ne!(other_name.replay_key(), proven.replay_key());
    let elsewhere: Htu = "https://api.example/v1/refunds".parse().unwrap();
    let target = Target {
        method: &Method::POST,
        uri: &elsewhere,
        access_token: Some(TOKEN),
    };
    let proof = forge(&header(), &changed(URI, elsewhere.as_str()));
    let elsewhere = ProofPolicy::new().verify(&headers(&[&proof]), &target, now());
    assert_ne!(elsewhere.unwrap().replay_key(), proven.replay_key());
}
