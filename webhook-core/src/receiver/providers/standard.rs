//! Senders by Standard Webhooks.

use super::super::Provider;
use crate::signature::scheme::{Field, IdSource, KeyText, Scheme, Source, TimeUnit, TimestampField};

/// Standard Webhooks: any sender with `webhook-*` headers.
pub const STANDARD_WEBHOOKS: Provider = Provider::new("standard-webhooks", &Scheme::STANDARD_WEBHOOKS);

/// Standard Webhooks with the headers of Svix, or those of the standard.
const SVIX_SCHEME: Scheme = Scheme {
    signature: Field {
        source: Source::Headers(&["svix-signature", "webhook-signature"]),
        ..Scheme::STANDARD_WEBHOOKS.signature
    },
    timestamp: Some(TimestampField::header(
        &["svix-timestamp", "webhook-timestamp"],
        TimeUnit::Seconds,
    )),
    id: IdSource::Header(&["svix-id", "webhook-id"]),
    ..Scheme::STANDARD_WEBHOOKS
};

/// Svix, and senders that use it: `svix-*` or `webhook-*` headers.
pub const SVIX: Provider = Provider::new("svix", &SVIX_SCHEME);

/// Clerk, by Svix.
pub const CLERK: Provider = Provider::new("clerk", &SVIX_SCHEME);

/// Resend, by Svix.
pub const RESEND: Provider = Provider::new("resend", &SVIX_SCHEME);

/// OpenAI, by Standard Webhooks.
pub const OPENAI: Provider = Provider::new("openai", &Scheme::STANDARD_WEBHOOKS);

/// Polar: Standard Webhooks with the text of the secret as the key.
pub const POLAR: Provider = Provider::new(
    "polar",
    &Scheme {
        key: KeyText::Utf8,
        ..Scheme::STANDARD_WEBHOOKS
    },
);
