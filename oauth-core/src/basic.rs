//! Client credentials in the `Authorization` header, [RFC 6749
//! §2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1). The client form-urlencodes its
//! identifier and its secret, joins them with a colon, and base64-encodes the result. An
//! implementation that omits the form-urlencoding fails for secrets with `+`, `%` or `:`.
//!
//! ```
//! use oauth_core::basic::BasicCredentials;
//!
//! let (client_id, secret) = ("s6BhdRkqt3".parse()?, "gX1fBat3bV".parse()?);
//! let header = BasicCredentials { client_id, secret }.to_header();
//! assert_eq!(header, "Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW");
//! assert_eq!(BasicCredentials::parse(&header)?.client_id.as_str(), "s6BhdRkqt3");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use zeroize::Zeroizing;

use crate::params::decode;
use crate::secret::ClientSecret;
use crate::vocabulary::ClientId;

/// Error for a header of another scheme than `Basic`, or without well-formed client credentials.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("malformed basic credentials: expected `Basic` and base64 of `client_id:secret`")]
pub struct InvalidBasicCredentials;

/// Identifier and secret of a client, as sent by `client_secret_basic`.
#[expect(clippy::exhaustive_structs, reason = "the scheme carries two values")]
#[derive(Clone, Debug)]
pub struct BasicCredentials {
    /// Claimed client identifier.
    pub client_id: ClientId,
    /// Client secret.
    pub secret: ClientSecret,
}

impl BasicCredentials {
    /// Parses the value of an `Authorization` header.
    ///
    /// # Errors
    ///
    /// [`InvalidBasicCredentials`] for another scheme, base64 that is not canonical, a missing
    /// colon, or parts that do not decode to a [`ClientId`] and a [`ClientSecret`].
    pub fn parse(header: &HeaderValue) -> Result<Self, InvalidBasicCredentials> {
        let text = header.to_str().map_err(|_| InvalidBasicCredentials)?;
        let (scheme, encoded) = text.split_once(' ').ok_or(InvalidBasicCredentials)?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return Err(InvalidBasicCredentials);
        }
        let decoded = STANDARD
            .decode(encoded.trim_start_matches(' '))
            .map_err(|_| InvalidBasicCredentials)?;
        let decoded = Zeroizing::new(decoded);
        let mut halves = decoded.splitn(2, |&byte| byte == b':');
        let (Some(id), Some(secret)) = (halves.next(), halves.next()) else {
            return Err(InvalidBasicCredentials);
        };
        let secret = Zeroizing::new(decode(secret).map_err(|_| InvalidBasicCredentials)?);
        Ok(Self {
            client_id: decode(id)
                .ok()
                .and_then(|id| id.parse().ok())
                .ok_or(InvalidBasicCredentials)?,
            secret: secret.parse().map_err(|_| InvalidBasicCredentials)?,
        })
    }

    /// Returns the value of an `Authorization` header, marked as sensitive.
    #[must_use]
    pub fn to_header(&self) -> HeaderValue {
        let mut pair = Zeroizing::new(String::new());
        pair.extend(form_urlencoded::byte_serialize(
            self.client_id.as_str().as_bytes(),
        ));
        pair.push(':');
        pair.extend(form_urlencoded::byte_serialize(self.secret.expose().as_bytes()));
        let text = Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())));
        #[expect(clippy::expect_used, reason = "base64 is made of visible ASCII")]
        let mut header = HeaderValue::from_str(&text).expect("base64 is a header value");
        header.set_sensitive(true);
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<BasicCredentials, InvalidBasicCredentials> {
        BasicCredentials::parse(&HeaderValue::from_str(text).unwrap())
    }

    fn parse_pair(pair: &str) -> Result<BasicCredentials, InvalidBasicCredentials> {
        parse(&format!("Basic {}", STANDARD.encode(pair)))
    }

    /// O6, 7: both parts are form-urldecoded, and the first colon splits.
    #[test]
    fn both_halves_are_form_urldecoded() {
        let credentials = parse_pair("my+app%3A1:p%25a+ss:w%2Brd").unwrap();
        assert_eq!(credentials.client_id.as_str(), "my app:1");
        assert_eq!(credentials.secret.expose(), "p%a ss:w+rd");
    }

    /// O6, 7: the scheme is case-insensitive, everything else is strict.
    #[test]
    fn malformed_credentials_are_refused() {
        assert!(parse("bAsIc czZCaGRSa3F0MzpnWDFmQmF0M2JW").is_ok());
        for text in [
            "Basic",
            "Basic ",
            "Bearer czZCaGRSa3F0MzpnWDFmQmF0M2JW",
            "Basic czZC*",
            "Basic YTpi\t",
            "Basic YTpiCg",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        for pair in [
            "no-colon",
            ":secret",
            "id:",
            "id:%zz",
            "id:%00",
            "id:%0d%0a",
            "%ff:x",
            "id\n:x",
        ] {
            assert!(parse_pair(pair).is_err(), "{pair:?}");
        }
    }

    proptest! {
        #[test]
        fn credentials_round_trip(id in "[ -~]{1,40}", secret in "[ -~]{1,40}") {
            let credentials = BasicCredentials { client_id: id.parse().unwrap(), secret: secret.parse().unwrap() };
            let read = BasicCredentials::parse(&credentials.to_header()).unwrap();
            prop_assert_eq!(read.client_id.as_str(), id);
            prop_assert_eq!(read.secret.expose(), secret);
        }

        #[test]
        fn any_header_parses_or_fails_without_panic(bytes in prop::collection::vec(0x20_u8..0x7f, 0..60)) {
            drop(BasicCredentials::parse(&HeaderValue::from_bytes(&bytes).unwrap()));
        }
    }
}
