//! Grammar of `Webhook-Signature`.
//!
//! ```text
//! list  = token *( SP token )     ; over all lines of the header; further spaces are ignored
//! token = tag "," signature [ "," ]
//! ```
//!
//! A proxy that joins two header lines with a comma and a space leaves the last comma.

use http::HeaderValue;
use memchr::memchr;

const MAX_TOKENS: usize = 16;
const MAX_BYTES: usize = 4096;

/// Tokens of a message, bounded in number and size.
#[derive(Debug, Default)]
pub(crate) struct SignatureList<'h> {
    tokens: [&'h [u8]; MAX_TOKENS],
    count: usize,
    bytes: usize,
}

/// Error: more than 16 tokens or 4 KiB.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TooLarge;

impl<'h> SignatureList<'h> {
    /// Adds the tokens of one header line.
    pub(crate) fn add(&mut self, line: &'h HeaderValue) -> Result<(), TooLarge> {
        let mut rest = line.as_bytes();
        self.bytes = self.bytes.saturating_add(rest.len());
        if self.bytes > MAX_BYTES {
            return Err(TooLarge);
        }
        while let Some((token, after)) = memchr(b' ', rest).and_then(|end| rest.split_at_checked(end)) {
            self.push(token)?;
            rest = after.strip_prefix(b" ").unwrap_or(after);
        }
        self.push(rest)
    }

    /// Signatures with the tag `tag`. Tokens with another tag or without the form of a token are
    /// skipped.
    pub(crate) fn tagged(&self, tag: &str) -> impl Iterator<Item = &'h [u8]> + Clone {
        self.tokens
            .iter()
            .take(self.count)
            .map(|token| token.strip_suffix(b",").unwrap_or(token))
            .filter_map(move |token| token.strip_prefix(tag.as_bytes())?.strip_prefix(b","))
            .filter(|signature| !signature.contains(&b','))
    }

    fn push(&mut self, token: &'h [u8]) -> Result<(), TooLarge> {
        if !token.is_empty() {
            *self.tokens.get_mut(self.count).ok_or(TooLarge)? = token;
            self.count += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(lines: &[&str]) -> Option<Vec<String>> {
        let lines: Vec<HeaderValue> = lines.iter().map(|line| line.parse().unwrap()).collect();
        let mut list = SignatureList::default();
        lines.iter().try_for_each(|line| list.add(line)).ok()?;
        Some(
            list.tagged("v1")
                .map(|token| String::from_utf8_lossy(token).into_owned())
                .collect(),
        )
    }

    /// W2: the list is split on spaces, over all lines; other tags and malformed tokens are
    /// skipped.
    #[test]
    fn the_list_gives_the_tokens_of_one_tag() {
        for (lines, expected) in [
            (&["v1,a"] as &[&str], &["a"] as &[&str]),
            (&["v1,a v1,b"], &["a", "b"]),
            (&["  v1,a   v1,b "], &["a", "b"]),
            (&["v1,a", "v1,b"], &["a", "b"]),
            (&["v1,a, v1,b"], &["a", "b"]),
            (&["v1,a,"], &["a"]),
            (&["v1a,x v2,y v1,a V1,z"], &["a"]),
            (&["v1", "a", ",a", "v1=a", "v1;a"], &[]),
            (&["v1,a,b"], &[]),
            (&["v1,a,,"], &[]),
            (&["v1,a,v1,b"], &[]),
            (&["v1,a\tv1,b"], &[]),
            (&["v1,"], &[]),
            (&["v1,,"], &[""]),
            (&[""], &[]),
        ] {
            assert_eq!(
                tokens(lines).as_deref(),
                Some(
                    expected
                        .iter()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                        .as_slice()
                ),
                "{lines:?}"
            );
        }
    }

    /// W2: at most 16 tokens of any tag, and 4 KiB, over all lines.
    #[test]
    fn a_list_beyond_its_bounds_is_refused() {
        assert!(tokens(&["v2,a "; 16]).is_some());
        assert!(tokens(&["v2,a "; 17]).is_none());
        assert!(tokens(&[&"x ".repeat(17)]).is_none());
        let half = format!("v1,{}", "a".repeat(2045));
        assert!(tokens(&[&half, &half]).is_some());
        assert!(tokens(&[&half, &half, "v"]).is_none());
    }
}
