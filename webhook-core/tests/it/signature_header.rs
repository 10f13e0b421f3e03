//! Grammar of `Webhook-Signature`.

use webhook_core::receiver::VerifyFailure;

use crate::ends::{now, pairs, reason, signed};

/// W2: each header is required, and id and timestamp may occur once only.
#[test]
fn a_missing_or_repeated_header_is_refused() {
    for (signer, verifier) in pairs() {
        let headers = signed(signer, now(), b"{}");
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            let mut without = headers.clone();
            without.remove(name);
            assert_eq!(
                reason(&verifier, &without, b"{}"),
                Some(VerifyFailure::MissingHeader),
                "{name}"
            );
        }
        for name in ["webhook-id", "webhook-timestamp"] {
            let mut twice = headers.clone();
            twice.append(name, headers[name].clone());
            assert_eq!(
                reason(&verifier, &twice, b"{}"),
                Some(VerifyFailure::RepeatedHeader),
                "{name}"
            );
        }
        let mut two_lines = headers.clone();
        two_lines.insert("webhook-signature", "v1,other".parse().unwrap());
        two_lines.append("webhook-signature", headers["webhook-signature"].clone());
        assert_eq!(reason(&verifier, &two_lines, b"{}"), None);
    }
}

/// W2: tokens of unknown tags and malformed tokens are skipped; so is the comma that a proxy
/// leaves.
#[test]
fn foreign_tokens_are_passed_over() {
    for (signer, verifier) in pairs() {
        let headers = signed(signer, now(), b"{}");
        let token = headers["webhook-signature"].to_str().unwrap();
        for (list, expected) in [
            (format!("v9,whatever {token}"), None),
            (format!("v1 , v1 v1,,, {token}"), None),
            (format!("v1,bm90IGEgc2lnbmF0dXJl, {token}"), None),
            (format!("{token},"), None),
            (format!("  {token}  "), None),
            (token.replace("v1", "v2"), Some(VerifyFailure::NoUsableSignature)),
            (token.replace("v1", "V1"), Some(VerifyFailure::NoUsableSignature)),
            (token.replace(',', "="), Some(VerifyFailure::NoUsableSignature)),
            (format!("{token},extra"), Some(VerifyFailure::NoUsableSignature)),
            (
                token.split(',').nth(1).unwrap().to_owned(),
                Some(VerifyFailure::NoUsableSignature),
            ),
            (String::new(), Some(VerifyFailure::NoUsableSignature)),
        ] {
            let mut headers = headers.clone();
            headers.insert("webhook-signature", list.parse().unwrap());
            assert_eq!(reason(&verifier, &headers, b"{}"), expected, "{list}");
        }
    }
}

/// W2: a matching signature behind too many others is not searched for.
#[test]
fn more_than_sixteen_tokens_are_refused() {
    for (signer, verifier) in pairs() {
        let headers = signed(signer, now(), b"{}");
        let token = headers["webhook-signature"].to_str().unwrap();
        for (others, expected) in [
            (15, None),
            (16, Some(VerifyFailure::TooManySignatures)),
            (500, Some(VerifyFailure::TooManySignatures)),
        ] {
            let mut headers = headers.clone();
            headers.insert(
                "webhook-signature",
                format!("{}{token}", "v9,x ".repeat(others)).parse().unwrap(),
            );
            assert_eq!(reason(&verifier, &headers, b"{}"), expected, "{others}");
        }
    }
}

/// W2: a signature has one form: 64 lowercase digits, or canonical padded base64.
#[test]
fn a_signature_in_another_writing_is_refused() {
    for (signer, verifier) in pairs() {
        let headers = signed(signer, now(), b"{}");
        let (tag, signature) = headers["webhook-signature"]
            .to_str()
            .unwrap()
            .split_once(',')
            .unwrap();
        let (shorter, _) = signature.split_at(signature.len() - 1);
        for other in [
            shorter.to_owned(),
            format!("{signature}0"),
            format!("{signature}="),
            format!("0{signature}"),
            format!("{signature}{signature}"),
            signature.trim_end_matches('=').to_owned() + "A",
            signature.to_uppercase(),
            format!("0x{signature}"),
            format!("\"{signature}\""),
            format!("{signature}\t"),
        ] {
            let mut headers = headers.clone();
            headers.insert("webhook-signature", format!("{tag},{other}").parse().unwrap());
            assert!(reason(&verifier, &headers, b"{}").is_some(), "{other}");
        }
    }
}

/// W2: base64 with unused bits set, without padding, or in the URL alphabet is refused.
#[test]
fn base64_that_is_not_canonical_is_refused() {
    let [.., (signer, verifier), _] = pairs();
    let headers = signed(signer, now(), b"{}");
    let token = headers["webhook-signature"].to_str().unwrap();
    let (rest, last) = token.trim_end_matches('=').split_at(token.len() - 2);
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let next = alphabet.chars().nth(alphabet.find(last).unwrap() + 1).unwrap();
    for other in [
        format!("{rest}{next}="),
        format!("{rest}{last}"),
        format!("{rest}{last}=="),
        token.replace(['+', '/'], "-"),
    ] {
        let mut headers = headers.clone();
        headers.insert("webhook-signature", other.parse().unwrap());
        assert_eq!(
            reason(&verifier, &headers, b"{}").is_none(),
            other == token,
            "{other}"
        );
    }
}
