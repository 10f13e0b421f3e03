//! Handshakes: requests by which a sender checks that the receiver accepts its webhooks.
//!
//! # Security
//!
//! - Signed handshakes are verified first.
//! - An echo is `text/plain` with `X-Content-Type-Options: nosniff` and at most 256 bytes, so that
//!   a browser does not execute it.
//! - Zoom's reply is a MAC under the signing secret. The receiver signs only tokens of `A-Z`,
//!   `a-z`, `0-9`, `_` and `-`. No signed text of a webhook has this form.
//! - The secret of Asana or Notion is taken only while the host has opened a [`Registration`].

mod registration;

use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use subtle::ConstantTimeEq as _;

pub use self::registration::Registration;
use super::{Head, Verifier, admission::empty};
use crate::signature::{
    mac::write_hex,
    scheme::{parameter, text_at},
};

/// Maximum length of an echo in bytes.
const MAX_ECHO: usize = 256;
/// Maximum length of Zoom's token in bytes.
const MAX_TOKEN: usize = 64;
const HOOK_SECRET: HeaderName = HeaderName::from_static("x-hook-secret");
const NOTION_SIGNATURE: HeaderName = HeaderName::from_static("x-notion-signature");
const WOOCOMMERCE_SIGNATURE: HeaderName = HeaderName::from_static("x-wc-webhook-signature");

/// Kind of handshake.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Handshake {
    /// No handshake.
    #[default]
    None,
    /// Asana: the response repeats `X-Hook-Secret`, the secret of all later webhooks.
    Asana,
    /// Discord: the response to the signed ping `{"type":1}` of interactions is the same JSON; the
    /// response to the signed ping `{"type":0}` of events is 204.
    Discord,
    /// Dropbox: a `GET` with `challenge`, which is echoed.
    Dropbox,
    /// Intercom and Trello: a `HEAD` is answered with 200.
    Head,
    /// Meta: a `GET` with `hub.verify_token`, which the host [set](Verifier::with_verify_token),
    /// and `hub.challenge`, which is echoed.
    Meta,
    /// Microsoft Graph: a `POST` with `validationToken` in its query, which is echoed.
    MicrosoftGraph,
    /// Notion: a `POST` with `verification_token`, the secret of all later webhooks.
    Notion,
    /// Slack: a signed `url_verification` with `challenge`, which is echoed.
    Slack,
    /// Twitch: a signed body with `challenge`, which is echoed.
    Twitch,
    /// WooCommerce: an unsigned form with `webhook_id` alone is answered with 200.
    WooCommerce,
    /// Zoom: a signed `endpoint.url_validation` with `plainToken`; the response has its MAC.
    Zoom,
}

/// Result of [`Verify::handshake`](super::Verify::handshake).
#[derive(Debug)]
pub enum HandshakeResult {
    /// The request is not a handshake.
    NotHandshake,
    /// The response to the handshake.
    Accepted(Response<Bytes>),
    /// The handshake is refused: a wrong or missing token, or an echo that is too long.
    Refused,
}

impl Verifier {
    /// Responds to a handshake that the sender does not sign.
    pub(super) fn unsigned_handshake(&self, head: Head<'_>, body: &[u8], now: SystemTime) -> HandshakeResult {
        let query = head.query.unwrap_or_default();
        let is_get = head.method == Method::GET;
        match self.provider().handshake() {
            Handshake::Dropbox if is_get => echoed(parameter(query, "challenge")),
            Handshake::Meta if is_get => {
                let token = parameter(query, "hub.verify_token").unwrap_or_default();
                let is_subscription = parameter(query, "hub.mode").as_deref() == Some("subscribe");
                if is_subscription && self.has_verify_token(&token) {
                    echoed(parameter(query, "hub.challenge"))
                } else {
                    HandshakeResult::Refused
                }
            }
            Handshake::MicrosoftGraph if head.method == Method::POST => {
                match parameter(query, "validationToken") {
                    Some(token) => echoed(Some(token)),
                    None => HandshakeResult::NotHandshake,
                }
            }
            Handshake::Asana if head.headers.contains_key(HOOK_SECRET) => self.register(head, now),
            Handshake::Head if head.method == Method::HEAD => accepted(),
            Handshake::Notion if !head.headers.contains_key(NOTION_SIGNATURE) => {
                match text_at(body, "/verification_token") {
                    Some(token) if self.takes(&token, now) => accepted(),
                    Some(_) => HandshakeResult::Refused,
                    None => HandshakeResult::NotHandshake,
                }
            }
            Handshake::WooCommerce if is_woocommerce_ping(head, body) => accepted(),
            _ => HandshakeResult::NotHandshake,
        }
    }

    /// Responds to a handshake whose signature is verified.
    pub(super) fn signed_handshake(&self, body: &[u8]) -> HandshakeResult {
        let member = |pointer| text_at(body, pointer);
        match self.provider().handshake() {
            Handshake::Slack if member("/type").as_deref() == Some("url_verification") => {
                echoed(member("/challenge"))
            }
            Handshake::Twitch if member("/challenge").is_some() => echoed(member("/challenge")),
            Handshake::Discord if member("/event/type").is_none() => match member("/type").as_deref() {
                Some("0") => HandshakeResult::Accepted(empty(StatusCode::NO_CONTENT)),
                Some("1") => json(r#"{"type":1}"#.into()),
                _ => HandshakeResult::NotHandshake,
            },
            Handshake::Zoom if member("/event").as_deref() == Some("endpoint.url_validation") => {
                let token = member("/payload/plainToken").unwrap_or_default();
                self.sign_token(&token)
            }
            _ => HandshakeResult::NotHandshake,
        }
    }

    /// Signs Zoom's token.
    fn sign_token(&self, token: &str) -> HandshakeResult {
        let is_plain = token
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        let mac = self.mac(token.as_bytes());
        let (Some(mac), true, 1..=MAX_TOKEN) = (mac, is_plain, token.len()) else {
            return HandshakeResult::Refused;
        };
        let mut encrypted = String::new();
        write_hex(mac.as_bytes(), &mut encrypted);
        json(format!(
            r#"{{"plainToken":"{token}","encryptedToken":"{encrypted}"}}"#
        ))
    }

    fn register(&self, head: Head<'_>, now: SystemTime) -> HandshakeResult {
        let mut secrets = head.headers.get_all(HOOK_SECRET).iter();
        let (Some(secret), None) = (secrets.next(), secrets.next()) else {
            return HandshakeResult::Refused;
        };
        if !secret.to_str().is_ok_and(|text| self.takes(text, now)) {
            return HandshakeResult::Refused;
        }
        let mut response = empty(StatusCode::OK);
        response.headers_mut().insert(HOOK_SECRET, secret.clone());
        HandshakeResult::Accepted(response)
    }
}

impl Verifier {
    /// Takes a secret, if the host has a registration open.
    fn takes(&self, secret: &str, now: SystemTime) -> bool {
        self.registration()
            .is_some_and(|registration| registration.take(secret, now))
    }
}

/// Returns `true` for a form `webhook_id=` and digits without a signature.
fn is_woocommerce_ping(head: Head<'_>, body: &[u8]) -> bool {
    let digits = body.strip_prefix(b"webhook_id=").unwrap_or_default();
    let is_id = (1..=20).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    is_id && head.method == Method::POST && !head.headers.contains_key(WOOCOMMERCE_SIGNATURE)
}

/// Compares two tokens in constant time.
pub(super) fn is_equal(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

fn echoed(text: Option<impl AsRef<str>>) -> HandshakeResult {
    let Some(text) = text else {
        return HandshakeResult::Refused;
    };
    let text = text.as_ref();
    if text.is_empty() || text.len() > MAX_ECHO {
        return HandshakeResult::Refused;
    }
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    inert(plain, text.to_owned())
}

fn json(text: String) -> HandshakeResult {
    inert(HeaderValue::from_static("application/json"), text)
}

fn accepted() -> HandshakeResult {
    HandshakeResult::Accepted(empty(StatusCode::OK))
}

/// Response that a browser does not execute.
fn inert(content_type: HeaderValue, body: String) -> HandshakeResult {
    let mut response = Response::new(Bytes::from(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    HandshakeResult::Accepted(response)
}
