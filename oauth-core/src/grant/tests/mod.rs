//! Tests of the decisions. Each case changes a valid record or request.

mod bound;
mod retry;

use std::time::{Duration, SystemTime};

use super::{RetryWindow, TokenPolicy, authorization_code, client_credentials, refresh_token};
use crate::error::ErrorCode;
use crate::pkce::CodeVerifier;
use crate::secret::{ClientSecret, TokenHash};
use crate::store::{
    AuthorizationCodeRecord, ClientSecrets, FamilyId, FamilyRevocation, Grant, GrantType, RefreshTokenRecord,
    RefreshTokenState, RegisteredClient, RevocationReason, Rotated, RotationSalt, Successor, TokenFamily,
};
use crate::vocabulary::Scopes;

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const ANOTHER_VERIFIER: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const CALLBACK: &str = "https://app.example/callback";
const FAMILY: FamilyId = FamilyId::from_bytes([7; 16]);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn grant() -> Grant {
    Grant {
        client_id: "web".parse().unwrap(),
        subject: "ada".parse().unwrap(),
        scopes: "openid read:charges".parse().unwrap(),
        audience: vec!["https://api.example".parse().unwrap()],
        auth_time: now(),
        session: None,
        nonce: None,
        email: None,
        name: None,
        claims: Default::default(),
    }
}

fn public(id: &str) -> RegisteredClient {
    RegisteredClient::public(id.parse().unwrap())
        .with_scopes("openid read:charges write:charges".parse().unwrap())
}

fn code() -> AuthorizationCodeRecord {
    AuthorizationCodeRecord {
        hash: TokenHash::new("code"),
        redirect_uri: CALLBACK.parse().unwrap(),
        code_challenge: VERIFIER.parse::<CodeVerifier>().unwrap().challenge(),
        dpop_jkt: None,
        grant: grant(),
        issued_at: now(),
        expires_at: now() + Duration::from_secs(60),
        retain_until: now() + 31 * DAY,
        redeemed: None,
    }
}

fn refresh() -> RefreshTokenState {
    let token = RefreshTokenRecord {
        hash: TokenHash::new("token"),
        family: FAMILY,
        generation: 3,
        issued_at: now(),
        expires_at: now() + 14 * DAY,
        rotated: None,
    };
    let family = TokenFamily {
        id: FAMILY,
        grant: grant(),
        confirmation: None,
        created_at: now(),
        expires_at: now() + 30 * DAY,
        retain_until: now() + 31 * DAY,
        revoked: None,
    };
    RefreshTokenState::new(token, family)
}

type Fault = (
    fn(&mut authorization_code::Request<'_>),
    authorization_code::Refusal,
);

/// Faults of a redemption request, each with its refusal.
const FAULTS: [Fault; 5] = {
    use authorization_code::Refusal;
    [
        (
            |request| request.redirect_uri = Some("https://app.example/callback/"),
            Refusal::RedirectUriMismatch,
        ),
        (
            |request| request.redirect_uri = Some("https://app.example/callbac"),
            Refusal::RedirectUriMismatch,
        ),
        (|request| request.code_verifier = None, Refusal::VerifierMissing),
        (
            |request| request.code_verifier = Some("too-short"),
            Refusal::VerifierMalformed,
        ),
        (
            |request| request.code_verifier = Some(ANOTHER_VERIFIER),
            Refusal::VerifierMismatch,
        ),
    ]
};

/// O6, O7, 35: each fault refuses the redemption, for an unused and for a redeemed code. Only a
/// valid request for a redeemed code is a replay.
#[test]
fn each_fault_refuses_a_redemption() {
    use authorization_code::{RedemptionDecision, Refusal, Request, redeem};
    let spent = AuthorizationCodeRecord {
        redeemed: Some(FAMILY),
        ..code()
    };
    let (web, other) = (public("web"), public("other"));
    let valid = Request {
        client: &web,
        redirect_uri: Some(CALLBACK),
        code_verifier: Some(VERIFIER),
        resources: &[],
        confirmation: None,
    };
    for record in [&code(), &spent] {
        for (fault, refusal) in FAULTS {
            let mut request = valid;
            fault(&mut request);
            assert_eq!(
                redeem(record, &request, &TokenPolicy::default(), now()),
                RedemptionDecision::Refuse(refusal)
            );
            assert_eq!(refusal.error(), ErrorCode::InvalidGrant);
        }
        let foreign = Request {
            client: &other,
            ..valid
        };
        let decision = redeem(record, &foreign, &TokenPolicy::default(), now());
        assert_eq!(decision, RedemptionDecision::Refuse(Refusal::ClientMismatch));
    }
    // the client has lost all granted scopes; with a redeemed code the request is still a replay
    let stripped = public("web").with_scopes("write:charges".parse().unwrap());
    let request = Request {
        client: &stripped,
        ..valid
    };
    let refusal = Refusal::ScopeExceeded;
    for (record, decision) in [
        (code(), RedemptionDecision::Refuse(refusal)),
        (spent, RedemptionDecision::RevokeFamily(FAMILY)),
    ] {
        let decided = redeem(&record, &request, &TokenPolicy::default(), now());
        assert_eq!(decided, decision);
    }
    assert_eq!(refusal.error(), ErrorCode::InvalidScope);
}

/// O6: an unused code is redeemed until it expires. A redeemed code is a replay as long as it is
/// stored.
#[test]
fn a_spent_code_in_order_is_a_theft_however_late() {
    use authorization_code::{RedemptionDecision, Refusal, Request, redeem};
    let spent = AuthorizationCodeRecord {
        redeemed: Some(FAMILY),
        ..code()
    };
    let web = public("web");
    for redirect_uri in [Some(CALLBACK), None] {
        let request = Request {
            client: &web,
            redirect_uri,
            code_verifier: Some(VERIFIER),
            resources: &[],
            confirmation: None,
        };
        let decide =
            |record: &AuthorizationCodeRecord, now| redeem(record, &request, &TokenPolicy::default(), now);
        assert!(matches!(decide(&code(), now()), RedemptionDecision::Redeem(_)));
        assert_eq!(
            decide(&code(), code().expires_at),
            RedemptionDecision::Refuse(Refusal::Expired)
        );
        for now in [now(), code().expires_at, code().retain_until] {
            assert_eq!(decide(&spent, now), RedemptionDecision::RevokeFamily(FAMILY));
        }
    }
}

/// O10: the plan keeps the family until no token that it issued under any policy is valid.
#[test]
fn a_family_is_kept_until_its_last_access_token_expired() {
    let web = public("web");
    let request = authorization_code::Request {
        client: &web,
        redirect_uri: None,
        code_verifier: Some(VERIFIER),
        resources: &[],
        confirmation: None,
    };
    let authorization_code::RedemptionDecision::Redeem(plan) =
        authorization_code::redeem(&code(), &request, &TokenPolicy::default(), now())
    else {
        panic!("refused");
    };
    assert_eq!(plan.family_expires_at, now() + 30 * DAY);
    assert_eq!(plan.retain_until, now() + 30 * DAY + Duration::from_secs(60 * 60));
    assert_eq!(plan.refresh_expires_at, now() + 14 * DAY);
    assert_eq!(plan.access.expires_at, now() + Duration::from_secs(600));
}

/// O9, O10: the checks are made in the order client, family revocation, reuse, expiry, scope,
/// resource.
#[test]
fn a_rotation_is_decided_in_order() {
    use refresh_token::{Refusal, Request, RotationDecision, rotate};
    let (web, other) = (public("web"), public("other"));
    let wide: Scopes = "read:charges write:charges".parse().unwrap();
    let elsewhere = ["https://elsewhere.example".parse().unwrap()];
    let revocation = FamilyRevocation::new(RevocationReason::Requested, now());
    let rotated = Rotated::new(now(), TokenHash::new("successor"), TokenHash::new("access token"));
    // each bit is one fault; the lowest bit set decides
    for faults in 0..64_u8 {
        let wrong = |bit: u8| faults & (1 << bit) != 0;
        let mut state = refresh();
        state.family.revoked = wrong(1).then_some(revocation);
        state.token.rotated = wrong(2).then_some(rotated);
        let at = if wrong(3) {
            state.token.expires_at
        } else {
            state.token.expires_at - Duration::from_nanos(1)
        };
        let request = Request {
            client: if wrong(0) { &other } else { &web },
            scopes: wrong(4).then_some(&wide),
            resources: if wrong(5) { &elsewhere } else { &[] },
            confirmation: None,
        };
        let decision = rotate(&state, &request, &TokenPolicy::default(), at);
        match faults.trailing_zeros() {
            0 => assert_eq!(decision, RotationDecision::Refuse(Refusal::ClientMismatch)),
            1 => assert_eq!(decision, RotationDecision::Refuse(Refusal::FamilyRevoked)),
            2 => assert_eq!(decision, RotationDecision::RevokeFamily(FAMILY)),
            3 => assert_eq!(decision, RotationDecision::Refuse(Refusal::Expired)),
            4 => assert_eq!(decision, RotationDecision::Refuse(Refusal::ScopeExceeded)),
            5 => assert_eq!(decision, RotationDecision::Refuse(Refusal::ResourceExceeded)),
            _ => assert!(matches!(decision, RotationDecision::Rotate(plan) if plan.generation == 4)),
        }
    }
}

/// O21, 48: a successor expires at the latest with its family.
#[test]
fn a_successor_never_outlives_its_family() {
    let client =
        RegisteredClient::public("web".parse().unwrap()).with_scopes("openid read:charges".parse().unwrap());
    let request = refresh_token::Request {
        client: &client,
        scopes: None,
        resources: &[],
        confirmation: None,
    };
    let mut state = refresh();
    state.token.expires_at = state.family.expires_at;
    let at = state.family.expires_at - DAY;
    match refresh_token::rotate(&state, &request, &TokenPolicy::default(), at) {
        refresh_token::RotationDecision::Rotate(plan) => assert_eq!(plan.expires_at, state.family.expires_at),
        refused => panic!("{refused:?}"),
    }
}

/// O11: the client must be confidential, registered for the grant and for the scopes. `openid` is
/// never granted.
#[test]
fn client_credentials_are_for_registered_confidential_clients() {
    use client_credentials::{Refusal, Request, issue};
    let secret: ClientSecret = "secret".parse().unwrap();
    let id = || "service".parse().unwrap();
    let registered = |client: RegisteredClient| {
        client
            .with_grant_types([GrantType::ClientCredentials])
            .with_scopes("openid read:charges".parse().unwrap())
    };
    let service = registered(RegisteredClient::confidential(id(), ClientSecrets::new(&secret)));
    let decide = |client: &RegisteredClient, scopes: Option<&str>| {
        let scopes: Option<Scopes> = scopes.map(|scopes| scopes.parse().unwrap());
        let request = Request {
            client,
            scopes: scopes.as_ref(),
            audience: &[],
            resources: &[],
            confirmation: None,
        };
        issue(&request, &TokenPolicy::default(), now()).map(|plan| plan.scopes.to_string())
    };
    assert_eq!(decide(&service, None).as_deref(), Ok("read:charges"));
    assert_eq!(
        decide(&service, Some("read:charges")).as_deref(),
        Ok("read:charges")
    );
    for scopes in ["openid", "write:charges", "read:charges write:charges"] {
        assert_eq!(decide(&service, Some(scopes)), Err(Refusal::ScopeExceeded));
    }
    assert_eq!(
        decide(&registered(RegisteredClient::public(id())), None),
        Err(Refusal::NotAllowed)
    );
    assert_eq!(
        decide(&service.clone().with_grant_types([]), None),
        Err(Refusal::NotAllowed)
    );
    assert_eq!(
        decide(&service.with_scopes(Scopes::default()), None),
        Err(Refusal::ScopeExceeded)
    );
}
