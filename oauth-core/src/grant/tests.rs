//! The decisions as tables: one change at a time to a record or request that is in order.

use std::time::{Duration, SystemTime};

use super::{
    AccessTokenPlan, RetryWindow, TokenPolicy, authorization_code, client_credentials, refresh_token,
};
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
    }
}

fn code() -> AuthorizationCodeRecord {
    AuthorizationCodeRecord {
        hash: TokenHash::of("code"),
        redirect_uri: CALLBACK.parse().unwrap(),
        code_challenge: VERIFIER.parse::<CodeVerifier>().unwrap().challenge(),
        grant: grant(),
        issued_at: now(),
        expires_at: now() + Duration::from_secs(60),
        retain_until: now() + 31 * DAY,
        redeemed: None,
    }
}

fn refresh() -> RefreshTokenState {
    let token = RefreshTokenRecord {
        hash: TokenHash::of("token"),
        family: FAMILY,
        generation: 3,
        issued_at: now(),
        expires_at: now() + 14 * DAY,
        rotated: None,
    };
    let family = TokenFamily {
        id: FAMILY,
        grant: grant(),
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

/// What may be wrong with a redemption.
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

/// O6, O7, 35: each fault refuses a redemption, of a fresh code and of a spent one alike: no fault, no theft.
#[test]
fn each_fault_refuses_a_redemption() {
    use authorization_code::{Decision, Refusal, Request, redeem};
    let spent = AuthorizationCodeRecord {
        redeemed: Some(FAMILY),
        ..code()
    };
    let (web, other) = ("web".parse().unwrap(), "other".parse().unwrap());
    let valid = Request {
        client_id: &web,
        redirect_uri: Some(CALLBACK),
        code_verifier: Some(VERIFIER),
        resources: &[],
    };
    for record in [&code(), &spent] {
        for (fault, refusal) in FAULTS {
            let mut request = valid;
            fault(&mut request);
            assert_eq!(
                redeem(record, &request, &TokenPolicy::default(), now()),
                Decision::Refuse(refusal)
            );
            assert_eq!(refusal.error(), ErrorCode::InvalidGrant);
        }
        let foreign = Request {
            client_id: &other,
            ..valid
        };
        let decision = redeem(record, &foreign, &TokenPolicy::default(), now());
        assert_eq!(decision, Decision::Refuse(Refusal::ClientMismatch));
    }
}

/// O6: a code in order buys until it expires; spent, it is a theft for as long as it is kept.
#[test]
fn a_spent_code_in_order_is_a_theft_however_late() {
    use authorization_code::{Decision, Refusal, Request, redeem};
    let spent = AuthorizationCodeRecord {
        redeemed: Some(FAMILY),
        ..code()
    };
    let web = "web".parse().unwrap();
    for redirect_uri in [Some(CALLBACK), None] {
        let request = Request {
            client_id: &web,
            redirect_uri,
            code_verifier: Some(VERIFIER),
            resources: &[],
        };
        let decide =
            |record: &AuthorizationCodeRecord, now| redeem(record, &request, &TokenPolicy::default(), now);
        assert!(matches!(decide(&code(), now()), Decision::Redeem(_)));
        assert_eq!(
            decide(&code(), code().expires_at),
            Decision::Refuse(Refusal::Expired)
        );
        for now in [now(), code().expires_at, code().retain_until] {
            assert_eq!(decide(&spent, now), Decision::RevokeFamily(FAMILY));
        }
    }
}

/// O10: what a tombstone must outlive is in the plan: no token of any policy lives longer.
#[test]
fn a_family_is_kept_until_its_last_access_token_expired() {
    let web = "web".parse().unwrap();
    let request = authorization_code::Request {
        client_id: &web,
        redirect_uri: None,
        code_verifier: Some(VERIFIER),
        resources: &[],
    };
    let authorization_code::Decision::Redeem(plan) =
        authorization_code::redeem(&code(), &request, &TokenPolicy::default(), now())
    else {
        panic!("refused");
    };
    assert_eq!(plan.family_expires_at, now() + 30 * DAY);
    assert_eq!(plan.retain_until, now() + 30 * DAY + Duration::from_secs(60 * 60));
    assert_eq!(plan.refresh_expires_at, now() + 14 * DAY);
    assert_eq!(plan.access.expires_at, now() + Duration::from_secs(600));
}

/// O9, O10: whose token it is comes first, then the family, then reuse, then expiry, then scope and resource.
#[test]
fn a_rotation_is_decided_in_order() {
    use refresh_token::{Decision, Refusal, Request, rotate};
    let registered = |id: &str| {
        RegisteredClient::public(id.parse().unwrap())
            .with_scopes("openid read:charges write:charges".parse().unwrap())
    };
    let (web, other) = (registered("web"), registered("other"));
    let wide: Scopes = "read:charges write:charges".parse().unwrap();
    let elsewhere = ["https://elsewhere.example".parse().unwrap()];
    let revocation = FamilyRevocation::new(RevocationReason::Requested, now());
    let rotated = Rotated::new(now(), TokenHash::of("successor"), TokenHash::of("access token"));
    // each column is one thing that may be wrong; the first that is decides
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
        };
        let decision = rotate(&state, &request, &TokenPolicy::default(), at);
        match faults.trailing_zeros() {
            0 => assert_eq!(decision, Decision::Refuse(Refusal::ClientMismatch)),
            1 => assert_eq!(decision, Decision::Refuse(Refusal::FamilyRevoked)),
            2 => assert_eq!(decision, Decision::RevokeFamily(FAMILY)),
            3 => assert_eq!(decision, Decision::Refuse(Refusal::Expired)),
            4 => assert_eq!(decision, Decision::Refuse(Refusal::ScopeExceeded)),
            5 => assert_eq!(decision, Decision::Refuse(Refusal::ResourceExceeded)),
            _ => assert!(matches!(decision, Decision::Rotate(plan) if plan.generation == 4)),
        }
    }
}

/// O10, 49, 53: a tombstone is answered once more when every condition of a retry holds, and betrays a theft when any does not.
#[test]
fn a_retry_is_decided_by_every_condition() {
    use refresh_token::{Decision, Request, rotate};
    let web = RegisteredClient::public("web".parse().unwrap())
        .with_scopes("openid read:charges write:charges".parse().unwrap());
    let window = RetryWindow::new(Duration::from_secs(10)).unwrap();
    let narrower: Scopes = "read:charges".parse().unwrap();
    let elsewhere = ["https://elsewhere.example".parse().unwrap()];
    for faults in 0..512_u16 {
        let wrong = |bit: u8| faults & (1 << bit) != 0;
        let mut successor = successor();
        let rotated = Rotated::new(now(), successor.refresh.hash, successor.access.hash);
        successor.refresh.rotated = wrong(0).then_some(rotated);
        successor.access.revoked_at = wrong(1).then_some(now());
        if wrong(2) {
            successor.access.audience.clear();
        }
        let mut state = refresh();
        let salt = (!wrong(3)).then_some(RotationSalt::from_bytes([1; 16]));
        state.token.rotated = Some(rotated.with_salt(salt));
        let expected = successor.clone();
        let state = state.with_successor((!wrong(4)).then_some(successor));
        let request = Request {
            client: &web,
            scopes: wrong(5).then_some(&narrower),
            resources: if wrong(6) { &elsewhere } else { &[] },
        };
        let policy = TokenPolicy::default();
        let policy = if wrong(7) {
            policy
        } else {
            policy.with_retry_window(window)
        };
        let late = if wrong(8) {
            window.as_duration()
        } else {
            Duration::ZERO
        };
        match rotate(&state, &request, &policy, now() + late) {
            Decision::Retry(plan) => {
                assert_eq!((faults, plan.successor), (0, expected));
                assert_eq!((plan.presented, Some(plan.salt)), (state.token.hash, salt));
            }
            decision => assert!(
                faults != 0 && decision == Decision::RevokeFamily(FAMILY),
                "{faults:b}"
            ),
        }
    }
}

/// O10, 48, 53: from the exact end of its family on nothing is answered, and who comes within the window is no thief for that.
#[test]
fn a_retry_is_refused_from_the_end_of_its_family_on() {
    use refresh_token::{Decision, Refusal, Request, rotate};
    let web = RegisteredClient::public("web".parse().unwrap()).with_scopes(grant().scopes);
    let request = Request {
        client: &web,
        scopes: None,
        resources: &[],
    };
    let (life, window) = (Duration::from_secs(5), Duration::from_secs(10));
    let policy = TokenPolicy::default().with_retry_window(RetryWindow::new(window).unwrap());
    let rotated = Rotated::new(now(), TokenHash::of("successor"), TokenHash::of("access"));
    let mut state = refresh().with_successor(Some(successor()));
    state.token.rotated = Some(rotated.with_salt(Some(RotationSalt::from_bytes([1; 16]))));
    state.family.expires_at = now() + life;
    let after = |wait| rotate(&state, &request, &policy, now() + wait);
    let at_last = after(life - Duration::from_nanos(1));
    assert!(matches!(at_last, Decision::Retry(_)));
    assert_eq!(after(life), Decision::Refuse(Refusal::Expired));
    assert_eq!(after(window), Decision::RevokeFamily(FAMILY));
}

/// What the third rotation of [`refresh`] issued.
fn successor() -> Successor {
    let plan = AccessTokenPlan {
        client_id: "web".parse().unwrap(),
        subject: "ada".parse().unwrap(),
        scopes: grant().scopes,
        audience: grant().audience,
        issued_at: now(),
        expires_at: now() + Duration::from_secs(600),
    };
    let mut leaf = refresh().token;
    (leaf.hash, leaf.generation) = (TokenHash::of("successor"), 4);
    let access = plan.into_record(TokenHash::of("access"), "1".to_owned(), Some(FAMILY));
    Successor::new(leaf, access)
}

/// O10, 53: tokens that come out with other hashes are not those that were issued.
#[test]
fn a_retry_is_answered_by_the_same_tokens_alone() {
    let plan = refresh_token::RetryPlan {
        presented: TokenHash::of("token"),
        salt: RotationSalt::from_bytes([1; 16]),
        successor: successor(),
    };
    let (refresh, access, other) = (
        TokenHash::of("successor"),
        TokenHash::of("access"),
        TokenHash::of("other"),
    );
    assert!(plan.is_answered_by(&refresh, &access));
    assert!(!plan.is_answered_by(&other, &access));
    assert!(!plan.is_answered_by(&refresh, &other));
    assert!(!plan.is_answered_by(&access, &refresh));
}

/// O21, 48: the last link of a chain does not outlive the chain.
#[test]
fn a_successor_never_outlives_its_family() {
    let client =
        RegisteredClient::public("web".parse().unwrap()).with_scopes("openid read:charges".parse().unwrap());
    let request = refresh_token::Request {
        client: &client,
        scopes: None,
        resources: &[],
    };
    let mut state = refresh();
    state.token.expires_at = state.family.expires_at;
    let at = state.family.expires_at - DAY;
    match refresh_token::rotate(&state, &request, &TokenPolicy::default(), at) {
        refresh_token::Decision::Rotate(plan) => assert_eq!(plan.expires_at, state.family.expires_at),
        refused => panic!("{refused:?}"),
    }
}

/// O11: confidential, registered for the grant, within its scopes, and never `openid`.
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
