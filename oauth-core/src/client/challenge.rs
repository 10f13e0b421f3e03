//! Challenges of resource servers, [RFC 9110
//! §11.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1).

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

/// Returns `true` if a `DPoP` challenge requires a nonce, [RFC 9449
/// §9](https://www.rfc-editor.org/rfc/rfc9449#section-9).
pub(super) fn wants_dpop_nonce(headers: &HeaderMap) -> bool {
    let values = headers.get_all(WWW_AUTHENTICATE).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .any(|challenges| errors(challenges, &["DPoP"]).any(|error| error == "use_dpop_nonce"))
}

/// Returns `true` if another token may be accepted: the challenges name no error, or
/// `invalid_token`, [RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3).
pub(super) fn wants_another_token(headers: &HeaderMap) -> bool {
    let values = headers.get_all(WWW_AUTHENTICATE).iter();
    let mut errors = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|challenges| errors(challenges, &["Bearer", "DPoP"]))
        .peekable();
    errors.peek().is_none() || errors.any(|error| error == "invalid_token")
}

/// Values of `error` in the challenges of these schemes.
fn errors<'a>(challenges: &'a str, schemes: &'a [&str]) -> impl Iterator<Item = String> + 'a {
    let (mut scheme, mut rest) = ("", challenges);
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches([' ', '\t', ',']);
            if rest.is_empty() {
                return None;
            }
            let (word, behind) = token(rest);
            match behind.trim_start().strip_prefix('=').filter(|_| !word.is_empty()) {
                Some(value) => {
                    let (value, behind) = parameter(value.trim_start());
                    rest = behind;
                    let is_of_these = schemes.iter().any(|name| scheme.eq_ignore_ascii_case(name));
                    if is_of_these && word.eq_ignore_ascii_case("error") {
                        return Some(value);
                    }
                }
                None if word.is_empty() => rest = behind.split_once(',').map_or("", |(_, next)| next),
                None => (scheme, rest) = (word, behind),
            }
        }
    })
}

/// Splits off the longest token at the start.
fn token(text: &str) -> (&str, &str) {
    let is_token =
        |character: char| character.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(character);
    let end = text.find(|character| !is_token(character)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Splits off the value of a parameter, quoted or not.
fn parameter(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, behind) = token(text);
        return (value.to_owned(), behind);
    };
    let mut value = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => value.extend(characters.next()),
            other => value.push(other),
        }
    }
    (value, characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use proptest::prelude::*;

    fn wants(values: &[&str]) -> bool {
        let values = values.iter().map(|value| HeaderValue::from_str(value).unwrap());
        wants_dpop_nonce(&values.map(|value| (WWW_AUTHENTICATE, value)).collect())
    }

    /// O20, 96: the challenge is found among others, in all spellings.
    #[test]
    fn a_server_that_wants_a_nonce_is_understood() {
        for values in [
            vec![r#"DPoP error="use_dpop_nonce""#],
            vec![r#"dpop realm="a, b=\"c", error=use_dpop_nonce"#],
            vec![r#"DPoP algs="ES256",error = "use_dpop_nonce",error_description="x""#],
            vec![r#"Bearer realm="api", error="invalid_token", DPoP error="use_dpop_nonce""#],
            vec![r#"Bearer realm="api""#, r#"DPoP ERROR="use\_dpop_nonce""#],
            vec![r#"Negotiate a87421000492aa874209af8bc028==, DPoP error="use_dpop_nonce""#],
        ] {
            assert!(wants(&values), "{values:?}");
        }
    }

    /// O20, 96: another error, another scheme, or the words inside a text do not require a nonce.
    #[test]
    fn another_challenge_wants_no_nonce() {
        for value in [
            "",
            "DPoP",
            r#"DPoP error="invalid_dpop_proof", error_description="use_dpop_nonce""#,
            r#"DPoP realm="error=use_dpop_nonce""#,
            r#"DPoP realm="\" error=use_dpop_nonce"#,
            r#"DPoP algs="ES256", Bearer error="use_dpop_nonce""#,
            r#"Bearer error="use_dpop_nonce""#,
            r#"DPoP error="use_dpop_nonce2""#,
            r#"DPoP xerror="use_dpop_nonce""#,
            "use_dpop_nonce",
        ] {
            assert!(!wants(&[value]), "{value}");
        }
    }

    /// O16, 97: another token helps if the challenges name no other error.
    #[test]
    fn a_server_that_wants_another_token_is_understood() {
        let wants = |values: &[&str]| {
            let values = values.iter().map(|value| HeaderValue::from_str(value).unwrap());
            wants_another_token(&values.map(|value| (WWW_AUTHENTICATE, value)).collect())
        };
        for values in [
            vec![],
            vec!["Bearer"],
            vec![r#"bearer realm="api", ERROR=invalid_token"#],
            vec![r#"Bearer error_description="error=insufficient_scope""#],
            vec![r#"Digest realm="api", error="insufficient_scope""#],
            vec!["Bearer", r#"DPoP algs="ES256", error="invalid_token""#],
        ] {
            assert!(wants(&values), "{values:?}");
        }
        for values in [
            vec![r#"Bearer error="insufficient_user_authentication", max_age=60"#],
            vec![r#"DPoP error="invalid_dpop_proof""#, "Bearer"],
            vec![r#"Bearer realm="api", error="Invalid_token""#],
            vec![r#"Bearer error="""#],
        ] {
            assert!(!wants(&values), "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn challenges_never_panic(text in "(DPoP|error|=|\"|\\\\|,| |use_dpop_nonce|\\PC){0,20}") {
            assert!(errors(&text, &["Bearer", "DPoP"]).count() <= text.len());
        }
    }
}
