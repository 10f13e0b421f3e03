//! Tokens printed in RFC 7515. Their keys and signatures are tested in `jwk`.

use super::*;

/// Claims of appendices A.1 to A.3 and A.5.
const JOE: &str =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

/// O15, 65, 67: A.1 is symmetric and A.5 unsigned; both are refused before a key is selected.
#[test]
fn the_tokens_of_rfc_7515_that_no_key_here_can_sign_are_refused() {
    let refused = [
        format!("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.{JOE}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        format!("eyJhbGciOiJub25lIn0.{JOE}."),
    ];
    for token in refused {
        assert_eq!(refusal(&token), JwtError::UnsupportedAlgorithm, "{token}");
        assert_eq!(
            verify_id(&token, &id_policy()),
            Err(JwtError::UnsupportedAlgorithm)
        );
        assert_eq!(verify_assertion(&token), Err(JwtError::UnsupportedAlgorithm));
    }
}
