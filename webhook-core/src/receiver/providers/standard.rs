//! Senders by Standard Webhooks.

use super::super::Provider;
use crate::signature::scheme::{
    Check, Encoding, Field, Grammar, IdSource, KeyText, Part, Scheme, Source, TimeUnit, TimestampField,
};

/// Standard Webhooks: any sender with `webhook-*` headers.
pub const STANDARD_WEBHOOKS: Provider = Provider::new(
    "standard-webhooks",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["webhook-signature"]),
            grammar: Grammar::Tokens { tag: "v1" },
        },
        signed: &[
            Part::Id,
            Part::Text("."),
            Part::Timestamp,
            Part::Text("."),
            Part::Body,
        ],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Whsec,
        timestamp: Some(TimestampField::header(&["webhook-timestamp"], TimeUnit::Seconds)),
        id: IdSource::Header(&["webhook-id"]),
    },
);

/// Svix, and senders that use it: `svix-*` or `webhook-*` headers.
pub const SVIX: Provider = Provider::new(
    "svix",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["svix-signature", "webhook-signature"]),
            grammar: Grammar::Tokens { tag: "v1" },
        },
        signed: &[
            Part::Id,
            Part::Text("."),
            Part::Timestamp,
            Part::Text("."),
            Part::Body,
        ],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Whsec,
        timestamp: Some(TimestampField::header(
            &["svix-timestamp", "webhook-timestamp"],
            TimeUnit::Seconds,
        )),
        id: IdSource::Header(&["svix-id", "webhook-id"]),
    },
);

/// Clerk, by Svix.
pub const CLERK: Provider = Provider::new(
    "clerk",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["svix-signature", "webhook-signature"]),
            grammar: Grammar::Tokens { tag: "v1" },
        },
        signed: &[
            Part::Id,
            Part::Text("."),
            Part::Timestamp,
            Part::Text("."),
            Part::Body,
        ],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Whsec,
        timestamp: Some(TimestampField::header(
            &["svix-timestamp", "webhook-timestamp"],
            TimeUnit::Seconds,
        )),
        id: IdSource::Header(&["svix-id", "webhook-id"]),
    },
);

/// Resend, by Svix.
pub const RESEND: Provider = Provider::new(
    "resend",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["svix-signature", "webhook-signature"]),
            grammar: Grammar::Tokens { tag: "v1" },
        },
        signed: &[
            Part::Id,
            Part::Text("."),
            Part::Timestamp,
            Part::Text("."),
            Part::Body,
        ],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Whsec,
        timestamp: Some(TimestampField::header(
            &["svix-timestamp", "webhook-timestamp"],
            TimeUnit::Seconds,
        )),
        id: IdSource::Header(&["svix-id", "webhook-id"]),
    },
);

/// OpenAI, by Standard Webhooks.
pub const OPENAI: Provider = Provider::new(
    "openai",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["webhook-signature"]),
            grammar: Grammar::Tokens { tag: "v1" },
        },
        signed: &[
            Part::Id,
            Part::Text("."),
            Part::Timestamp,
            Part::Text("."),
            Part::Body,
        ],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Whsec,
        timestamp: Some(TimestampField::header(&["webhook-timestamp"], TimeUnit::Seconds)),
        id: IdSource::Header(&["webhook-id"]),
    },
);

/// Polar: Standard Webhooks with the text of the secret as the key.
pub const POLAR: Provider = Provider::new(
    "polar",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["webhook-signature"]),
            grammar: Grammar::Tokens { tag: "v1" },
        },
        signed: &[
            Part::Id,
            Part::Text("."),
            Part::Timestamp,
            Part::Text("."),
            Part::Body,
        ],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::header(&["webhook-timestamp"], TimeUnit::Seconds)),
        id: IdSource::Header(&["webhook-id"]),
    },
);
