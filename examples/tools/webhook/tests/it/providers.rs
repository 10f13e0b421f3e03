//! `--as` and `--list`.

use std::process::Output;

use crate::program::{BODY, code, text, webhook};

const STRIPE: &str = "whsec_test_secret";

fn signed(words: &[&str]) -> Vec<String> {
    let mut all = vec!["sign", "--timestamp", "1700000000"];
    all.extend(words);
    let output = webhook(&all, BODY);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

fn verify(words: &[&str], headers: &[String], body: &[u8]) -> Output {
    let mut all = vec!["verify", "--now", "1700000000"];
    all.extend(words);
    all.extend(headers.iter().flat_map(|header| ["--header", header]));
    webhook(&all, body)
}

/// W19: a provider's scheme is signed and verified; a failure is explained without `--explain`.
#[test]
fn provider_is_signed_for_and_verified() {
    let stripe = ["--as", "stripe", "--secret", STRIPE];
    let headers = signed(&stripe);
    assert!(
        headers[0].starts_with("stripe-signature: t=1700000000,v1="),
        "{headers:?}"
    );
    let verified = verify(&stripe, &headers, BODY);
    let expected = "verified: stripe, signed at 2023-11-14T22:13:20Z\n";
    assert_eq!((code(&verified), text(&verified.stdout).as_str()), (0, expected));
    let longer = verify(&stripe, &headers, &[BODY, b"\n"].concat());
    let said = text(&longer.stderr);
    assert_eq!(code(&longer), 1);
    assert!(
        said.contains("likely: a newline was added to the end of the body"),
        "{said}"
    );
    let other = verify(&["--as", "github", "--secret", STRIPE], &headers, BODY);
    let said = text(&other.stderr);
    assert_eq!(code(&other), 1);
    assert!(said.contains("stripe"), "the provider is found: {said}");
}

/// W19: a signed URL is that of `--url`, with its query.
#[test]
fn signed_url_is_taken_from_the_command_line() {
    let url = "https://example.com/hooks?a=1";
    let square = ["--as", "square", "--secret", "key", "--url"];
    let headers = signed(&[&square[..], &[url]].concat());
    assert_eq!(code(&verify(&[&square[..], &[url]].concat(), &headers, BODY)), 0);
    let slash = "https://example.com/hooks/?a=1";
    let other = verify(&[&square[..], &[slash]].concat(), &headers, BODY);
    let said = text(&other.stderr);
    assert_eq!(code(&other), 1);
    assert!(said.contains("https://example.com/hooks"), "{said}");
    let without = verify(&square[..4], &headers, BODY);
    assert!(
        text(&without.stderr).contains("--url"),
        "{}",
        text(&without.stderr)
    );
    assert_eq!(code(&without), 1);
}

/// W19: the list names each provider and what it signs.
#[test]
fn list_shows_what_each_provider_signs() {
    let output = webhook(&["--list"], b"");
    let list = text(&output.stdout);
    assert_eq!(code(&output), 0);
    assert!(list.lines().count() >= 60, "{list}");
    for part in [
        "stripe             HMAC-SHA256 stripe-signature: v1=…; signs timestamp \".\" body; id: /id\n",
        "gitlab             token       x-gitlab-token: …; signs nothing; id: digest\n",
        "x-hub-signature-256: sha256=…; signs body; id: digest",
    ] {
        assert!(list.contains(part), "{part}: {list}");
    }
}

/// W19: flags that do not fit are refused, without a secret in the message.
#[test]
fn flags_that_do_not_fit_are_refused() {
    for words in [
        &["verify", "--as", "stripes", "--secret", STRIPE][..],
        &["verify", "--as", "stripe", "--scheme", "hex", "--secret", STRIPE],
        &["verify", "--url", "https://example.com", "--secret", STRIPE],
        &["sign", "--as", "discord", "--secret", STRIPE],
        &["sign", "--as", "stripe", "--secret", STRIPE, "--secret", STRIPE],
        &["verify", "--as", "svix", "--secret", "whsec_%"],
        &["--list", "stripe"],
    ] {
        let output = webhook(words, BODY);
        let said = text(&output.stderr);
        assert_eq!((code(&output), said.lines().count()), (2, 1), "{words:?} {said}");
        assert!(!said.contains("test_secret") && !said.contains('%'), "{said}");
    }
}
