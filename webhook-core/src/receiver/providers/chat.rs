//! Messages, calls and mail.

use std::time::Duration;

#[cfg(any(feature = "ed25519", feature = "sha1"))]
use http::StatusCode;

#[cfg(any(feature = "ed25519", feature = "sha1"))]
use super::super::Replies;
use super::super::{Handshake, Provider};
use crate::signature::scheme::{
    Check, Encoding, Field, Grammar, IdSource, KeyText, Part, Scheme, Source, TimeUnit, TimestampField,
};

/// Slack.
pub const SLACK: Provider = Provider::new(
    "slack",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-slack-signature"]),
            grammar: Grammar::Whole { prefix: "v0=" },
        },
        signed: &[Part::Text("v0:"), Part::Timestamp, Part::Text(":"), Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::header(
            &["x-slack-request-timestamp"],
            TimeUnit::Seconds,
        )),
        id: IdSource::JsonPointer("/event_id"),
    },
)
.with_handshake(Handshake::Slack);

#[cfg(feature = "ed25519")]
/// Discord: interactions and webhook events. The key is the public key of the application.
pub const DISCORD: Provider = Provider::new(
    "discord",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-signature-ed25519"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Timestamp, Part::Body],
        check: Check::Ed25519,
        encoding: Encoding::Hex,
        key: KeyText::Hex,
        timestamp: Some(TimestampField::header(
            &["x-signature-timestamp"],
            TimeUnit::Seconds,
        )),
        id: IdSource::JsonPointer("/id"),
    },
)
.with_handshake(Handshake::Discord)
.with_replies(Replies {
    accepted: StatusCode::NO_CONTENT,
    refused: StatusCode::UNAUTHORIZED,
});

/// LINE.
pub const LINE: Provider = Provider::new(
    "line",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-line-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
);

/// Telegram, by its secret token.
pub const TELEGRAM: Provider = Provider::new(
    "telegram",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-telegram-bot-api-secret-token"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::Token,
        encoding: Encoding::Text,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/update_id"),
    },
);

/// Meta: Facebook, Instagram and WhatsApp.
pub const META: Provider = Provider::new(
    "meta",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-hub-signature-256"]),
            grammar: Grammar::Whole { prefix: "sha256=" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
)
.with_handshake(Handshake::Meta);

/// Twitch `EventSub`.
pub const TWITCH: Provider = Provider::new(
    "twitch",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["twitch-eventsub-message-signature"]),
            grammar: Grammar::Whole { prefix: "sha256=" },
        },
        signed: &[Part::Id, Part::Timestamp, Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(
            TimestampField::header(&["twitch-eventsub-message-timestamp"], TimeUnit::Rfc3339)
                .with_tolerance(Duration::from_secs(600)),
        ),
        id: IdSource::Header(&["twitch-eventsub-message-id"]),
    },
)
.with_handshake(Handshake::Twitch);

/// Zoom.
pub const ZOOM: Provider = Provider::new(
    "zoom",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-zm-signature"]),
            grammar: Grammar::Whole { prefix: "v0=" },
        },
        signed: &[Part::Text("v0:"), Part::Timestamp, Part::Text(":"), Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::header(
            &["x-zm-request-timestamp"],
            TimeUnit::Seconds,
        )),
        id: IdSource::SignedContent,
    },
)
.with_handshake(Handshake::Zoom);

#[cfg(feature = "sha1")]
/// Twilio: forms, and JSON with `bodySHA256`. It needs
/// [`Verifier::with_url`](super::super::Verifier::with_url).
pub const TWILIO: Provider = Provider::new(
    "twilio",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-twilio-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Url, Part::SortedForm],
        check: Check::HmacSha1,
        encoding: Encoding::Base64,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
)
// a 200 without TwiML is logged as an error at Twilio
.with_replies(Replies {
    accepted: StatusCode::NO_CONTENT,
    refused: StatusCode::BAD_REQUEST,
});

#[cfg(feature = "ecdsa")]
/// SendGrid event webhook. The key is the public key of the settings page.
pub const SENDGRID: Provider = Provider::new(
    "sendgrid",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-twilio-email-event-webhook-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Timestamp, Part::Body],
        check: Check::EcdsaP256Sha256,
        encoding: Encoding::Base64,
        key: KeyText::Spki,
        timestamp: Some(TimestampField::header(
            &["x-twilio-email-event-webhook-timestamp"],
            TimeUnit::Seconds,
        )),
        id: IdSource::SignedContent,
    },
);

/// ElevenLabs.
pub const ELEVENLABS: Provider = Provider::new(
    "elevenlabs",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["elevenlabs-signature"]),
            grammar: Grammar::Pairs {
                signature: "v0",
                timestamp: Some("t"),
                separator: ',',
            },
        },
        signed: &[Part::Timestamp, Part::Text("."), Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::pair(TimeUnit::Seconds).with_tolerance(Duration::from_secs(1800))),
        id: IdSource::SignedContent,
    },
);

#[cfg(feature = "ed25519")]
/// Telnyx. The key is the public key of its portal.
pub const TELNYX: Provider = Provider::new(
    "telnyx",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["telnyx-signature-ed25519"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Timestamp, Part::Text("|"), Part::Body],
        check: Check::Ed25519,
        encoding: Encoding::Base64,
        key: KeyText::Base64,
        timestamp: Some(TimestampField::header(&["telnyx-timestamp"], TimeUnit::Seconds)),
        id: IdSource::JsonPointer("/data/id"),
    },
);
