//! Attacks on the serialization.

use super::*;

/// O15, 72: repeated members are refused, in header and claims, known or unknown.
#[test]
fn a_repeated_member_is_refused_everywhere() {
    let good = header("at+jwt");
    let header_start = good.trim_end_matches('}');
    for extra in [
        r#""alg":"ES256""#,
        r#""alg":"none""#,
        r#""typ":"JWT""#,
        r#""x":1,"x":2"#,
        r#""\u0061lg":"none""#,
    ] {
        let token = forge(&format!("{header_start},{extra}}}"), &format!("{{{CLAIMS}}}"));
        assert_eq!(refusal(&token), JwtError::Malformed, "{extra}");
    }
    for extra in [
        r#""sub":"ada""#,
        r#""sub":"eve""#,
        r#""exp":9999999999"#,
        r#""x":1,"x":2"#,
        r#""\u0073ub":"eve""#,
        r#""x":{"y":1,"y":2}"#,
    ] {
        assert_eq!(
            refusal(&forge(&good, &format!("{{{CLAIMS},{extra}}}"))),
            JwtError::Malformed,
            "{extra}"
        );
    }
}

/// O15, 70, 71, 81: each token has one accepted serialization: three segments without padding,
/// whitespace or trailing bits.
#[test]
fn only_the_canonical_serialization_is_read() {
    let token = forge(&header("at+jwt"), &format!("{{{CLAIMS}}}"));
    let [head, claims, signature] = <[&str; 3]>::try_from(token.split('.').collect::<Vec<_>>()).unwrap();
    let signature_bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let (kept, last) = signature.split_at(signature.len() - 1);
    // the last character of 64 encoded bytes has four unused bits, so a lax decoder accepts 15
    // other characters
    let other_last = char::from(last.as_bytes()[0] + 1);
    let refused = [
        String::new(),
        ".".into(),
        "..".into(),
        "...".into(),
        format!("{head}.{claims}"),
        format!("{head}.{claims}.{signature}."),
        format!("{head}.{claims}.{signature}.x"),
        format!(".{claims}.{signature}"),
        format!("{head}..{signature}"),
        format!("{head}.{claims}.{signature}="),
        format!("{head}.{claims}.{}", URL_SAFE.encode(&signature_bytes)),
        format!("{head}.{claims}.{kept}{other_last}"),
        format!(" {token}"),
        format!("{token}\n"),
        format!("{head}.{claims} .{signature}"),
        format!("{head}.{}.{signature}", STANDARD.encode("{\"?\":\"~~~~\"}")),
        format!(r#"{{"protected":"{head}","payload":"{claims}","signature":"{signature}"}}"#),
        token.clone() + &"A".repeat(16 * 1024),
    ];
    for token in refused {
        assert_eq!(refusal(&token), JwtError::Malformed, "{token}");
    }
    assert_eq!(refusal(&format!("{head}.{claims}.")), JwtError::SignatureMismatch);
}

/// O15: a header or payload that is not a JSON object is refused.
#[test]
fn only_objects_are_headers_and_claims() {
    for text in [
        "",
        "null",
        "1",
        "[]",
        r#"["ES256","at+jwt"]"#,
        "{",
        "{}{}",
        "\u{feff}{}",
    ] {
        assert_eq!(
            refusal(&forge(text, &format!("{{{CLAIMS}}}"))),
            JwtError::Malformed,
            "{text}"
        );
        assert_eq!(
            refusal(&forge(&header("at+jwt"), text)),
            JwtError::Malformed,
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_is_refused_without_panic(token in "[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_.-]{0,40}|.*") {
        prop_assert!(verify_at(&token, now()).is_err());
    }

    #[test]
    fn any_header_and_claims_are_read_without_panic(header in "\\{?\\PC*\\}?", claims in "\\{?\\PC*\\}?") {
        prop_assert!(verify_at(&forge(&header, &claims), now()).is_err());
    }

    /// O15: a token with one changed bit is refused.
    #[test]
    fn a_flipped_bit_is_always_noticed(position in any::<prop::sample::Index>(), bit in 0..7_u8) {
        let mut token = forge(&header("at+jwt"), &format!("{{{CLAIMS}}}")).into_bytes();
        let position = position.index(token.len());
        token[position] ^= 1 << bit;
        if let Ok(token) = String::from_utf8(token) {
            prop_assert!(verify_at(&token, now()).is_err());
        }
    }
}
