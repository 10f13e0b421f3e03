//! Attacks on logout tokens of back-channel logout.

use super::*;
use crate::vocabulary::{ClientId, Issuer};

pub(super) const LOGOUT: &str = r#""iss":"https://as.example","aud":"demo-web","sub":"ada","sid":"s1","jti":"1","iat":1800000000,"exp":1800000120,"events":{"http://schemas.openid.net/event/backchannel-logout":{}}"#;

pub(super) fn verify_logout(token: &str, now: SystemTime) -> Result<LogoutToken, JwtError> {
    let (issuer, web): (Issuer, ClientId) = (ISSUER.parse().unwrap(), "demo-web".parse().unwrap());
    LogoutToken::verify(token, &keys(), &issuer, &web, now)
}

fn check(claims: &str, expected: Result<(), JwtError>) {
    let token = forge(&header("logout+jwt"), claims);
    assert_eq!(verify_logout(&token, now()).map(drop), expected, "{claims}");
}

fn check_member(member: &str, expected: Result<(), JwtError>) {
    check(&with(LOGOUT, member), expected);
}

/// O34: a logout token of this crate has exactly these bytes, and is accepted with any `typ` that
/// issuers use.
#[test]
fn a_proper_logout_token_is_accepted() {
    let (issuer, web) = (ISSUER.parse().unwrap(), "demo-web".parse().unwrap());
    let entropy = entropy_fn(|bytes: &mut [u8]| bytes.fill(0));
    let ours = LogoutToken {
        subject: Some("ada".parse().unwrap()),
        session: Some("s1".to_owned()),
        ..LogoutToken::new(issuer, web, &entropy, now())
    };
    let token = ours.sign(&key()).unwrap();
    let parts: Vec<&str> = token.split('.').collect();
    let text = |part: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
    assert_eq!(text(parts[0]), header("logout+jwt"));
    let expected = format!("{{{}}}", LOGOUT.replace("\"1\"", "\"AAAAAAAAAAAAAAAAAAAAAA\""));
    assert_eq!(text(parts[1]), expected);
    assert_eq!(verify_logout(&token, now()), Ok(ours));
    for typ in ["logout+jwt", "application/logout+jwt", "Logout+JWT", "JWT"] {
        let token = forge(&header(typ), &format!("{{{LOGOUT}}}"));
        assert!(verify_logout(&token, now()).is_ok(), "{typ}");
    }
}

/// O34: the token must be about a logout, and must not pass for an ID token.
#[test]
fn another_event_is_no_logout() {
    check_member(r#""nonce":"n""#, Err(JwtError::WrongType));
    check_member(r#""nonce":"""#, Err(JwtError::WrongType));
    check_member(r#""events":{}"#, Err(JwtError::WrongType));
    check_member(r#""events":{"logout":{}}"#, Err(JwtError::WrongType));
    for value in ["true", "null", "[]", "\"\""] {
        let events = format!(r#""events":{{"http://schemas.openid.net/event/backchannel-logout":{value}}}"#);
        check_member(&events, Err(JwtError::WrongType));
    }
    check(&without(LOGOUT, "events"), Err(JwtError::Malformed));
    // an ID token verifier refuses it, even without a nonce to compare
    for claims in [format!("{{{LOGOUT}}}"), with(ID_CLAIMS, r#""events":{}"#)] {
        let token = forge(&header("JWT"), &claims);
        assert_eq!(
            verify_id(&token, &id_policy()).map(drop),
            Err(JwtError::WrongType)
        );
    }
}

/// O34: issuer, audience, time and signature are checked, and a user or a session is named.
#[test]
fn a_foreign_or_old_logout_token_is_refused() {
    check_member(r#""iss":"https://evil.example""#, Err(JwtError::WrongIssuer));
    check_member(r#""aud":"other""#, Err(JwtError::WrongAudience));
    check_member(r#""aud":[]"#, Err(JwtError::WrongAudience));
    check_member(r#""aud":["demo-web","other"]"#, Err(JwtError::WrongAudience));
    check_member(r#""aud":["demo-web"]"#, Ok(()));
    check_member(r#""iat":1800000006"#, Err(JwtError::NotYetValid));
    check_member(r#""exp":1799999995"#, Err(JwtError::Expired));
    check_member(r#""exp":1800003601"#, Err(JwtError::LivesTooLong));
    check_member(r#""exp":1800003600"#, Ok(()));
    check_member(r#""jti":"""#, Err(JwtError::Malformed));
    check(&without(LOGOUT, "sid"), Ok(()));
    check(&without(LOGOUT, "sub"), Ok(()));
    for required in ["exp", "iat", "jti"] {
        check(&without(LOGOUT, required), Err(JwtError::Malformed));
    }
    let nameless = LOGOUT.replace(r#""sub":"ada","sid":"s1","#, "");
    check(&format!("{{{nameless}}}"), Err(JwtError::Malformed));
    let empty = LOGOUT.replace(r#""sub":"ada","sid":"s1","#, r#""sid":"","#);
    check(&format!("{{{empty}}}"), Err(JwtError::Malformed));

    let token = forge(&header("logout+jwt"), &format!("{{{LOGOUT}}}"));
    let forged = forge(&header("logout+jwt"), &with(LOGOUT, r#""sub":"eve""#));
    let stolen = token.rsplit_once('.').unwrap().1;
    let spliced = format!("{}.{stolen}", forged.rsplit_once('.').unwrap().0);
    let refused = verify_logout(&spliced, now()).map(drop);
    assert_eq!(refused, Err(JwtError::SignatureMismatch));
}

/// O34: the replay key differs between issuers and tokens, and is kept beyond the expiry.
#[test]
fn replay_keys_of_logout_tokens_differ() {
    let token = verify_logout(&forge(&header("logout+jwt"), &format!("{{{LOGOUT}}}")), now()).unwrap();
    assert!(token.replayable_until() > token.expires_at);
    let jti = "2".to_owned();
    let other = LogoutToken { jti, ..token.clone() };
    assert_ne!(token.replay_key(), other.replay_key());
    let issuer = "https://other.example".parse().unwrap();
    let foreign = LogoutToken {
        issuer,
        ..token.clone()
    };
    assert_ne!(token.replay_key(), foreign.replay_key());
}
