//! Grants that are bound to a key or certificate of the client.

use super::*;
use crate::store::{NotSenderConstrained, SenderConstraint};
use crate::vocabulary::{Confirmation, Thumbprint};

pub(super) const KEY: Confirmation = Confirmation::Jkt(Thumbprint::from_bytes([1; 32]));
const OTHER_KEY: Confirmation = Confirmation::Jkt(Thumbprint::from_bytes([2; 32]));
/// Binding of another kind with the same bytes as [`KEY`].
const CERTIFICATE: Confirmation = Confirmation::Certificate(Thumbprint::from_bytes([1; 32]));

fn confidential(id: &str) -> RegisteredClient {
    let secret: ClientSecret = "secret".parse().unwrap();
    RegisteredClient::confidential(id.parse().unwrap(), ClientSecrets::new(&secret))
        .with_scopes("openid read:charges write:charges".parse().unwrap())
}

fn redeem(
    record: &AuthorizationCodeRecord,
    client: &RegisteredClient,
    confirmation: Option<Confirmation>,
) -> authorization_code::RedemptionDecision {
    let request = authorization_code::Request {
        client,
        redirect_uri: None,
        code_verifier: Some(VERIFIER),
        resources: &[],
        confirmation,
    };
    authorization_code::redeem(record, &request, &TokenPolicy::default(), now())
}

fn redeemed(client: &RegisteredClient, confirmation: Option<Confirmation>) -> authorization_code::Redemption {
    match redeem(&code(), client, confirmation) {
        authorization_code::RedemptionDecision::Redeem(plan) => *plan,
        refused => panic!("{refused:?}"),
    }
}

fn rotate(
    state: &RefreshTokenState,
    client: &RegisteredClient,
    confirmation: Option<Confirmation>,
) -> refresh_token::RotationDecision {
    let request = refresh_token::Request {
        client,
        scopes: None,
        resources: &[],
        confirmation,
    };
    refresh_token::rotate(state, &request, &TokenPolicy::default(), now())
}

/// O20, 33, 40: a code that is bound to a key is redeemed only with that key.
#[test]
fn bound_code_is_redeemed_only_with_its_key() {
    use authorization_code::{RedemptionDecision, Refusal};
    let jkt = Some(Thumbprint::from_bytes([1; 32]));
    let bound = code().with_dpop_jkt(jkt);
    let spent = AuthorizationCodeRecord {
        redeemed: Some(FAMILY),
        ..bound.clone()
    };
    let web = public("web");
    assert!(matches!(
        redeem(&bound, &web, Some(KEY)),
        RedemptionDecision::Redeem(_)
    ));
    assert_eq!(
        redeem(&spent, &web, Some(KEY)),
        RedemptionDecision::RevokeFamily(FAMILY)
    );
    for wrong in [None, Some(OTHER_KEY), Some(CERTIFICATE)] {
        for record in [&bound, &spent] {
            assert_eq!(
                redeem(record, &web, wrong),
                RedemptionDecision::Refuse(Refusal::KeyMismatch),
                "{wrong:?}"
            );
        }
    }
    assert_eq!(Refusal::KeyMismatch.error(), ErrorCode::InvalidGrant);
}

/// O20, 50: the access token is bound to the proven key; the refresh token only for a public
/// client.
#[test]
fn the_refresh_tokens_of_a_public_client_are_bound_to_its_key() {
    for confirmation in [None, Some(KEY), Some(CERTIFICATE)] {
        let plan = redeemed(&public("web"), confirmation);
        assert_eq!(
            (plan.access.confirmation, plan.confirmation),
            (confirmation, confirmation)
        );
        let plan = redeemed(&confidential("web"), confirmation);
        assert_eq!(
            (plan.access.confirmation, plan.confirmation),
            (confirmation, None)
        );
    }
}

/// O20, 50: a bound family is refreshed only with its key; a thief without the key can neither
/// refresh nor revoke it.
#[test]
fn bound_family_is_refreshed_only_with_its_key() {
    use refresh_token::{Refusal, RotationDecision};
    let web = public("web");
    let mut state = refresh();
    state.family.confirmation = Some(KEY);
    let mut rotated = state.clone();
    rotated.token.rotated = Some(Rotated::new(now(), TokenHash::new("a"), TokenHash::new("b")));
    for wrong in [None, Some(OTHER_KEY), Some(CERTIFICATE)] {
        for state in [&state, &rotated] {
            let refused = RotationDecision::Refuse(Refusal::KeyMismatch);
            assert_eq!(rotate(state, &web, wrong), refused, "{wrong:?}");
        }
    }
    assert_eq!(Refusal::KeyMismatch.error(), ErrorCode::InvalidGrant);
    assert_eq!(
        rotate(&rotated, &web, Some(KEY)),
        RotationDecision::RevokeFamily(FAMILY)
    );
    let RotationDecision::Rotate(plan) = rotate(&state, &web, Some(KEY)) else {
        panic!("refused");
    };
    assert_eq!(plan.access.confirmation, Some(KEY));
    // an unbound family issues access tokens with any proven binding
    for confirmation in [None, Some(KEY), Some(CERTIFICATE)] {
        let RotationDecision::Rotate(plan) = rotate(&refresh(), &web, confirmation) else {
            panic!("refused");
        };
        assert_eq!(plan.access.confirmation, confirmation);
    }
}

/// O20, DP1: a client with a sender constraint gets no bearer token and no other binding, by any
/// grant.
#[test]
fn a_constrained_client_gets_no_bearer_token() {
    let unconstrained = confidential("web").with_grant_types([
        GrantType::AuthorizationCode,
        GrantType::RefreshToken,
        GrantType::ClientCredentials,
    ]);
    for (constraint, right, wrong) in [
        (SenderConstraint::Dpop, KEY, CERTIFICATE),
        (SenderConstraint::MutualTls, CERTIFICATE, KEY),
    ] {
        let client = unconstrained.clone().with_sender_constraint(constraint);
        let issue = |confirmation| {
            let request = client_credentials::Request {
                client: &client,
                scopes: None,
                audience: &[],
                resources: &[],
                confirmation,
            };
            client_credentials::issue(&request, &TokenPolicy::default(), now())
        };
        for confirmation in [None, Some(wrong)] {
            assert_eq!(
                redeem(&code(), &client, confirmation),
                authorization_code::RedemptionDecision::Refuse(authorization_code::Refusal::Unconfirmed)
            );
            assert_eq!(
                rotate(&refresh(), &client, confirmation),
                refresh_token::RotationDecision::Refuse(refresh_token::Refusal::Unconfirmed)
            );
            assert_eq!(issue(confirmation), Err(client_credentials::Refusal::Unconfirmed));
        }
        assert_eq!(redeemed(&client, Some(right)).access.confirmation, Some(right));
        assert_eq!(issue(Some(right)).unwrap().confirmation, Some(right));
        assert!(matches!(
            rotate(&refresh(), &client, Some(right)),
            refresh_token::RotationDecision::Rotate(_)
        ));
    }
}

/// O10, 55: a client keeps its refresh token only while it is confidential and sender-constrained.
#[test]
fn only_constrained_confidential_client_keeps_refresh_token() {
    use refresh_token::RotationDecision;
    let constrained = |client: RegisteredClient| client.with_sender_constraint(SenderConstraint::Dpop);
    for client in [public("web"), confidential("web"), constrained(public("web"))] {
        assert!(client.rotates_refresh_tokens());
        assert_eq!(client.with_kept_refresh_tokens(), Err(NotSenderConstrained));
    }
    let web = constrained(confidential("web"))
        .with_kept_refresh_tokens()
        .unwrap();
    assert!(!web.rotates_refresh_tokens());
    let plan = redeemed(&web, Some(KEY));
    assert_eq!(plan.refresh_expires_at, plan.family_expires_at);
    let RotationDecision::Keep(plan) = rotate(&refresh(), &web, Some(KEY)) else {
        panic!("rotated");
    };
    assert_eq!(plan.confirmation, Some(KEY));
    // a token that was rotated earlier still detects reuse
    let mut rotated = refresh();
    rotated.token.rotated = Some(Rotated::new(now(), TokenHash::new("a"), TokenHash::new("b")));
    assert_eq!(
        rotate(&rotated, &web, Some(KEY)),
        RotationDecision::RevokeFamily(FAMILY)
    );

    let stored = serde_json::to_string(&web).unwrap();
    assert_eq!(serde_json::from_str::<RegisteredClient>(&stored).unwrap(), web);
    let unconstrained = stored.replace("\"sender_constraint\":\"dpop\"", "\"sender_constraint\":null");
    assert_ne!(unconstrained, stored);
    let mut published: RegisteredClient = serde_json::from_str(&unconstrained).unwrap();
    assert!(published.rotates_refresh_tokens());
    published = constrained(published);
    published.authentication = crate::store::ClientAuthentication::None;
    assert!(published.rotates_refresh_tokens());
}
