//! Confusion of token types: each type is presented to each verifier.

use super::logout_token::{LOGOUT, verify_logout};
use super::*;

/// Registered values of `typ`, and `None` for a header without `typ`.
const TYPES: [Option<&str>; 9] = [
    Some("at+jwt"),
    Some("client-authentication+jwt"),
    Some("dpop+jwt"),
    Some("JWT"),
    Some("logout+jwt"),
    Some("oauth-authz-req+jwt"),
    Some("secevent+jwt"),
    Some("token-introspection+jwt"),
    None,
];

type Verify = fn(&str) -> Result<(), JwtError>;

/// Each verifier with claims that it accepts and the values of `typ` that it accepts.
const VERIFIERS: [(Verify, &str, &[Option<&str>]); 4] = [
    (
        |token| verify_at(token, now()).map(drop),
        CLAIMS,
        &[Some("at+jwt")],
    ),
    (
        |token| verify_id(token, &id_policy()).map(drop),
        ID_CLAIMS,
        &[Some("JWT"), None],
    ),
    (
        |token| verify_assertion(token).map(drop),
        ASSERTION,
        &[Some("client-authentication+jwt"), Some("JWT"), None],
    ),
    (
        |token| verify_logout(token, now()).map(drop),
        LOGOUT,
        &[Some("logout+jwt"), Some("JWT"), None],
    ),
];

fn typed(typ: Option<&str>) -> String {
    typ.map_or_else(
        || format!(r#"{{"alg":"ES256","kid":"{}"}}"#, key().key_id()),
        header,
    )
}

/// O15, 73: each verifier accepts only its own values of `typ`, even with valid claims.
#[test]
fn each_type_passes_its_own_verifier_only() {
    for (verify, claims, accepted) in VERIFIERS {
        for typ in TYPES {
            let expected = accepted.contains(&typ).then_some(()).ok_or(JwtError::WrongType);
            let token = forge(&typed(typ), &format!("{{{claims}}}"));
            assert_eq!(verify(&token), expected, "{typ:?} {claims}");
        }
    }
}

/// O15, 73: a token with an accepted `typ` but the claims of another type of token is refused.
#[test]
fn the_claims_of_one_purpose_never_pass_for_another() {
    for (index, (_, claims, _)) in VERIFIERS.iter().enumerate() {
        for (other, (verify, _, accepted)) in VERIFIERS.iter().enumerate() {
            for typ in *accepted {
                let token = forge(&typed(*typ), &format!("{{{claims}}}"));
                assert_eq!(verify(&token).is_ok(), index == other, "{typ:?} {claims}");
            }
        }
    }
}
