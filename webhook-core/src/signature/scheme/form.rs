//! Form bodies as a part of the signed text.

use std::borrow::Cow;

use form_urlencoded::parse;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;

use crate::signature::mac::write_hex;

/// Parameter with the digest of the body, in the query of a request whose body is not a form.
const BODY_DIGEST: &str = "bodySHA256";

/// Names and values of the form, sorted by name and then by value, without separators. Empty if the
/// query has a digest of `body`; `None` if a digest in the query does not match `body`.
pub(super) fn signed_form(query: Option<&str>, body: &[u8]) -> Option<String> {
    let digests = parse(query.unwrap_or_default().as_bytes()).filter(|(name, _)| name == BODY_DIGEST);
    let mut digests = digests.map(|(_, digest)| digest).peekable();
    if digests.peek().is_some() {
        let own = digest_of(body);
        let is_right = digests.all(|digest| bool::from(own.as_bytes().ct_eq(digest.as_bytes())));
        return is_right.then(String::new);
    }
    let mut pairs: Vec<(Cow<'_, str>, Cow<'_, str>)> = parse(body).collect();
    pairs.sort_unstable();
    // equal pairs count once, as in Twilio's own libraries
    pairs.dedup();
    Some(pairs.into_iter().map(|(name, value)| name + value).collect())
}

/// SHA-256 of `body` in lowercase hexadecimal.
fn digest_of(body: &[u8]) -> String {
    let mut text = String::new();
    write_hex(&Sha256::digest(body), &mut text);
    text
}

/// Value of a parameter of a query, decoded; `None` if it is missing or repeated.
pub(crate) fn parameter<'q>(query: &'q str, name: &str) -> Option<Cow<'q, str>> {
    let mut found = parse(query.as_bytes())
        .filter(|(key, _)| key == name)
        .map(|(_, value)| value);
    found.next().filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W19: a form is signed as its sorted pairs; a digest in the query replaces the form, and must
    /// match the body.
    #[test]
    fn form_is_sorted_or_replaced_by_its_digest() {
        assert_eq!(signed_form(None, b"b=2&a=x+y&A=%26").unwrap(), "A&ax yb2");
        assert_eq!(signed_form(Some("q=1"), b"").unwrap(), "");
        let body = b"{}";
        let digest = digest_of(body);
        let query = format!("bodySHA256={digest}");
        assert_eq!(signed_form(Some(&query), body).unwrap(), "");
        assert_eq!(signed_form(Some(&query), b"{ }"), None);
        let twice = format!("{query}&bodySHA256=00");
        assert_eq!(signed_form(Some(&twice), body), None);
    }
}
