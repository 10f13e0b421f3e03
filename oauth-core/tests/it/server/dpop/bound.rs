//! Tokens and codes that are bound to a key.

use oauth_core::store::{GrantType, SenderConstraint};
use serde_json::json;

use super::super::fixture::{
    API, CHALLENGE, SCOPE, VERIFIER, assert_error, change, codes, reason, redirected, web_request,
};
use super::*;

/// O12, O20, DP12, 33: a request with a proof gets an access token bound to its key, as the JWT and
/// the introspection response state.
#[tokio::test]
async fn proof_binds_tokens_to_its_key() {
    let (fixture, key) = (fixture(), key(1));
    let tokens = sign_in(&fixture, &key).await;
    let cnf = json!({ "jkt": jkt(&key) });
    assert_eq!(tokens.body["token_type"], "DPoP");
    assert_eq!(claims(&tokens.access)["cnf"], cnf);
    let told = fixture.introspect_as("api", &[("token", &tokens.access)]).await;
    assert_eq!(
        (&told["token_type"], &told["cnf"], &told["aud"]),
        (&json!("DPoP"), &cnf, &json!(API))
    );

    let answer = fixture
        .server
        .token(on_its_own(Some(&signed(&fixture, &key))))
        .await;
    assert_eq!(claims(&Tokens::of(&answer).access)["cnf"], cnf);

    // without a proof the token is not bound
    let bearer = fixture.sign_in().await;
    assert_eq!(bearer.body["token_type"], "Bearer");
    assert_eq!(claims(&bearer.access)["cnf"], Value::Null);
    let told = fixture.introspect(&bearer.access).await;
    assert_eq!(
        (&told["token_type"], &told["cnf"]),
        (&json!("Bearer"), &Value::Null)
    );
}

/// O20, 33: a server without DPoP ignores proofs and `dpop_jkt`, because a code bound to a key
/// could never be redeemed. The token type tells the client that its tokens are bearer tokens.
#[tokio::test]
async fn proofs_are_ignored_without_dpop() {
    let fixture = Fixture::new();
    let tokens = sign_in(&fixture, &key(1)).await;
    assert_eq!(tokens.body["token_type"], "Bearer");
    let metadata = |fixture: &Fixture| -> Value {
        let request = Request::get("/.well-known/oauth-authorization-server").body(Bytes::new());
        let document = fixture.server.metadata(&request.unwrap());
        serde_json::from_slice(document.body()).unwrap()
    };
    let name = "dpop_signing_alg_values_supported";
    assert_eq!(metadata(&fixture)[name], Value::Null);
    assert_eq!(
        metadata(&super::fixture())[name],
        json!(["ES256", "Ed25519", "EdDSA"])
    );

    for named in [jkt(&key(1)), "no thumbprint".to_owned()] {
        let request = change(web_request(), "dpop_jkt", Some(&named));
        let code = fixture.code_for(&request).await;
        assert_eq!(
            Tokens::of(&fixture.redeem(&code).await).body["token_type"],
            "Bearer"
        );
        let pushed = fixture.server.par(post(basic("web"), &request)).await;
        let code = code_of_pushed(&fixture, &pushed).await;
        let answer = token(&fixture, &redemption(&code), Some(&signed(&fixture, &key(1)))).await;
        assert_eq!(Tokens::of(&answer).body["token_type"], "Bearer");
    }
}

/// Issues a code for a pushed request.
async fn code_of_pushed(fixture: &Fixture, pushed: &EndpointResponse) -> String {
    assert_eq!(pushed.response.status(), 201, "{pushed:?}");
    let body: Value = serde_json::from_slice(pushed.response.body()).unwrap();
    let name = body.get("request_uri").and_then(Value::as_str).unwrap();
    fixture
        .code_for(&vec![("client_id", "web"), ("request_uri", name)])
        .await
}

/// O20, 33, 40: a code is bound to the key of `dpop_jkt` and redeemed with it only.
#[tokio::test]
async fn a_code_is_bound_to_the_key_of_its_request() {
    let (fixture, own, other) = (fixture(), key(1), key(2));
    let jkt = jkt(&own);
    let code = fixture
        .code_for(&change(web_request(), "dpop_jkt", Some(&jkt)))
        .await;
    for proof in [None, Some(signed(&fixture, &other))] {
        let answer = token(&fixture, &redemption(&code), proof.as_ref()).await;
        assert_error(&answer, 400, "invalid_grant");
        assert_eq!(reason(&answer), "code_of_another_key");
    }
    let proof = signed(&fixture, &own);
    let answer = token(&fixture, &redemption(&code), Some(&proof)).await;
    assert_eq!(Tokens::of(&answer).body["token_type"], "DPoP");

    for malformed in ["1", &format!("{jkt}="), "", &"A".repeat(44)] {
        let pairs = change(web_request(), "dpop_jkt", Some(malformed));
        if malformed.is_empty() {
            // an empty parameter is absent
            let _interaction = fixture.interact(&pairs).await;
            continue;
        }
        let answer = fixture.refused(&pairs).await;
        let (_, params) = redirected(&answer.response);
        assert_eq!(params.optional("error"), Some("invalid_request"), "{malformed}");
        assert_eq!(reason(&answer), "dpop_jkt_malformed");
    }
}

/// O20, O23, 33, 40: a request that is pushed with a proof is bound to its key; another `dpop_jkt`
/// beside it is refused.
#[tokio::test]
async fn a_pushed_request_is_bound_to_the_key_of_its_proof() {
    let (fixture, own, other) = (fixture(), key(1), key(2));
    let at = |uri: &str, key: &SigningKey| {
        let proof = Proof::new(Method::POST, uri.parse().unwrap(), &OsEntropy, fixture.now());
        proof.sign(key).unwrap()
    };
    let push = async |pairs: &Pairs<'_>, proof: &SignedProof| {
        let request = proving(post(basic("web"), pairs), Some(proof));
        fixture.server.par(request).await
    };
    let own_jkt = jkt(&own);
    let named = change(web_request(), "dpop_jkt", Some(&own_jkt));
    let refused = push(&named, &at(PAR, &other)).await;
    assert_error(&refused, 400, "invalid_dpop_proof");
    assert_eq!(reason(&refused), "dpop_proof_of_another_key");
    let elsewhere = push(&web_request(), &at(TOKEN, &own)).await;
    assert_error(&elsewhere, 400, "invalid_dpop_proof");
    assert_eq!(reason(&elsewhere), "dpop_proof_for_another_uri");

    let proof = at(PAR, &own);
    for pairs in [web_request(), named] {
        let proof = if pairs.len() == web_request().len() {
            proof.clone()
        } else {
            at(PAR, &own)
        };
        let pushed = push(&pairs, &proof).await;
        let code = code_of_pushed(&fixture, &pushed).await;
        let answer = token(&fixture, &redemption(&code), Some(&signed(&fixture, &other))).await;
        assert_eq!(reason(&answer), "code_of_another_key");
        let answer = token(&fixture, &redemption(&code), Some(&signed(&fixture, &own))).await;
        assert_eq!(answer.response.status(), 200);
    }
    let again = push(&web_request(), &proof).await;
    assert_error(&again, 400, "invalid_dpop_proof");
    assert_eq!(reason(&again), "dpop_proof_replayed");
}

/// O20, 50: the refresh token of a public client works only with its key. A thief without the key
/// can neither refresh nor revoke the family, not even with a rotated token.
#[tokio::test]
async fn stolen_refresh_token_needs_its_key() {
    let (fixture, own, thief) = (fixture(), key(1), key(2));
    let code = fixture
        .code_for(&vec![
            ("response_type", "code"),
            ("client_id", "native"),
            ("redirect_uri", "http://127.0.0.1:51004/callback"),
            ("scope", SCOPE),
            ("state", "s"),
            ("nonce", "n"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ])
        .await;
    let code = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("code_verifier", VERIFIER),
    ];
    let proof = signed(&fixture, &own);
    let first = Tokens::of(&fixture.server.token(of_native(&code, Some(&proof))).await);
    let ask = async |refresh_token: &str, key: Option<&SigningKey>| {
        let proof = key.map(|key| signed(&fixture, key));
        let pairs = refresh(refresh_token);
        fixture.server.token(of_native(&pairs, proof.as_ref())).await
    };
    let stolen = async |refresh_token: &str| {
        for key in [None, Some(&thief)] {
            let answer = ask(refresh_token, key).await;
            assert_error(&answer, 400, "invalid_grant");
            assert_eq!(reason(&answer), "refresh_token_of_another_key");
            assert_eq!(codes(&answer.events), ["request_refused"]);
        }
    };
    stolen(&first.refresh).await;
    let second = Tokens::of(&ask(&first.refresh, Some(&own)).await);
    assert_eq!(claims(&second.access)["cnf"], json!({ "jkt": jkt(&own) }));
    stolen(&first.refresh).await;
    stolen(&second.refresh).await;
    let third = Tokens::of(&ask(&second.refresh, Some(&own)).await);
    // with the key it is a reuse as any other
    let reused = ask(&first.refresh, Some(&own)).await;
    assert_eq!(reason(&reused), "refresh_token_reused");
    assert_error(&ask(&third.refresh, Some(&own)).await, 400, "invalid_grant");
}

/// O20, 50: a confidential client may refresh with another key, and the new access token is bound
/// to that one.
#[tokio::test]
async fn a_confidential_client_may_change_its_key() {
    let (fixture, first, second) = (fixture(), key(1), key(2));
    let tokens = sign_in(&fixture, &first).await;
    let proof = signed(&fixture, &second);
    let answer = token(&fixture, &refresh(&tokens.refresh), Some(&proof)).await;
    let tokens = Tokens::of(&answer);
    assert_eq!(claims(&tokens.access)["cnf"], json!({ "jkt": jkt(&second) }));
    let told = fixture.introspect(&tokens.refresh).await;
    assert_eq!((&told["active"], &told["cnf"]), (&json!(true), &Value::Null));
}

/// O20, DP1: a client that is registered for bound tokens is refused without a proof, by any grant,
/// and nothing is consumed.
#[tokio::test]
async fn a_client_that_binds_its_tokens_gets_no_bearer_token() {
    let (fixture, key) = (fixture(), key(1));
    for id in ["web", "service"] {
        fixture
            .change_client(id, |client| client.with_sender_constraint(SenderConstraint::Dpop))
            .await;
    }
    let unconfirmed = |answer: &EndpointResponse| {
        assert_error(answer, 400, "invalid_grant");
        assert_eq!(reason(answer), "sender_unconfirmed");
    };
    unconfirmed(&fixture.server.token(on_its_own(None)).await);
    let code = fixture.code().await;
    unconfirmed(&token(&fixture, &redemption(&code), None).await);
    let proof = signed(&fixture, &key);
    let tokens = Tokens::of(&token(&fixture, &redemption(&code), Some(&proof)).await);
    unconfirmed(&token(&fixture, &refresh(&tokens.refresh), None).await);
    let proof = signed(&fixture, &key);
    let answer = token(&fixture, &refresh(&tokens.refresh), Some(&proof)).await;
    assert_eq!(answer.response.status(), 200);
}

/// O10, O25, 55: a sender-constrained confidential client may keep its refresh token: each refresh
/// gives an access token only, until the family is revoked.
#[tokio::test]
async fn a_client_may_keep_its_refresh_token() {
    let (fixture, key) = (fixture(), key(1));
    fixture
        .change_client("web", |client| {
            let client = client.with_sender_constraint(SenderConstraint::Dpop);
            client.with_kept_refresh_tokens().unwrap()
        })
        .await;
    let tokens = sign_in(&fixture, &key).await;
    let ask = async || {
        let proof = signed(&fixture, &key);
        token(&fixture, &refresh(&tokens.refresh), Some(&proof)).await
    };
    let mut issued = vec![tokens.access.clone()];
    for _ in 0..3 {
        let answer = ask().await;
        assert_eq!(codes(&answer.events), ["tokens_issued"]);
        assert_eq!(answer.events[0].grant_type, Some(GrantType::RefreshToken));
        let body = Tokens::of(&answer).body;
        assert_eq!(
            (&body["refresh_token"], &body["token_type"]),
            (&Value::Null, &json!("DPoP"))
        );
        issued.push(body["access_token"].as_str().unwrap().to_owned());
    }
    for access in &issued {
        assert!(fixture.is_active(access).await);
    }
    let _revoked = fixture.revoke_as("web", &[("token", &tokens.refresh)]).await;
    for access in &issued {
        assert!(!fixture.is_active(access).await);
    }
    assert_error(&ask().await, 400, "invalid_grant");
}
