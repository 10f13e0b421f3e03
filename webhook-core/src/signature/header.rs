//! The grammar of `Webhook-Signature`.
//!
//! ```text
//! list  = token *( SP token )     ; over all lines of the header; further spaces are ignored
//! token = tag "," signature [ "," ]
//! ```
//!
//! The last comma is what a proxy leaves that joins two lines of the header with a comma and a space.

use http::{HeaderMap, HeaderValue, header::GetAll};

use super::WEBHOOK_SIGNATURE;

const MAX_TOKENS: usize = 16;
const MAX_BYTES: usize = 4096;

/// The tokens of a message, known to be few enough to try each.
#[derive(Debug)]
pub(crate) struct SignatureList<'h>(GetAll<'h, HeaderValue>);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum InvalidList {
    Missing,
    TooLarge,
}

impl<'h> SignatureList<'h> {
    pub(crate) fn of(headers: &'h HeaderMap) -> Result<Self, InvalidList> {
        let lines = headers.get_all(WEBHOOK_SIGNATURE);
        let bytes = lines.iter().map(|line| line.len()).fold(0, usize::saturating_add);
        if lines.iter().next().is_none() {
            Err(InvalidList::Missing)
        } else if bytes > MAX_BYTES || pieces(&lines).nth(MAX_TOKENS).is_some() {
            Err(InvalidList::TooLarge)
        } else {
            Ok(Self(lines))
        }
    }

    /// The signatures under `tag`. Tokens under another tag, and those without the form of a token, are passed over.
    pub(crate) fn tagged(&self, tag: &str) -> impl Iterator<Item = &[u8]> {
        pieces(&self.0)
            .filter_map(token)
            .filter(move |(found, _)| *found == tag.as_bytes())
            .map(|(_, signature)| signature)
    }
}

fn pieces<'a>(lines: &'a GetAll<'_, HeaderValue>) -> impl Iterator<Item = &'a [u8]> {
    lines
        .iter()
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b' '))
        .filter(|piece| !piece.is_empty())
}

fn token(piece: &[u8]) -> Option<(&[u8], &[u8])> {
    let piece = piece.strip_suffix(b",").unwrap_or(piece);
    let mut parts = piece.split(|byte| *byte == b',');
    let (tag, signature) = (parts.next()?, parts.next()?);
    parts.next().is_none().then_some((tag, signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(lines: &[&str]) -> Option<Vec<String>> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(WEBHOOK_SIGNATURE, line.parse().unwrap());
        }
        let list = SignatureList::of(&headers).ok()?;
        Some(
            list.tagged("v1")
                .map(|token| String::from_utf8_lossy(token).into_owned())
                .collect(),
        )
    }

    /// W2: the list is split on spaces, over all lines; other tags and what is not a token are passed over.
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

    /// W2: at most 16 tokens, of whatever tag, and 4 KiB, over all lines.
    #[test]
    fn a_list_beyond_its_bounds_is_refused() {
        assert!(tokens(&["v2,a "; 16]).is_some());
        assert!(tokens(&["v2,a "; 17]).is_none());
        assert!(tokens(&[&"x ".repeat(17)]).is_none());
        let half = format!("v1,{}", "a".repeat(2045));
        assert!(tokens(&[&half, &half]).is_some());
        assert!(tokens(&[&half, &half, "v"]).is_none());
        assert!(tokens(&[]).is_none());
    }
}
