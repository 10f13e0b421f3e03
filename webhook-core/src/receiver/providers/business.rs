//! Shops, files and office work.

use std::time::Duration;

use super::super::{Handshake, Provider};
use crate::signature::scheme::{
    Check, Encoding, Field, Grammar, IdSource, KeyText, Part, Scheme, Source, TimeUnit, TimestampField,
};

/// Shopify. `X-Shopify-Webhook-Id` is not signed, so duplicates are detected by content.
pub const SHOPIFY: Provider = Provider::new(
    "shopify",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-shopify-hmac-sha256", "shopify-hmac-sha256"]),
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

/// WooCommerce.
pub const WOOCOMMERCE: Provider = Provider::new(
    "woocommerce",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-wc-webhook-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
)
.with_handshake(Handshake::WooCommerce);

/// Asana. The secret arrives in the handshake: see [`Registration`](super::super::Registration).
pub const ASANA: Provider = Provider::new(
    "asana",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-hook-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
)
.with_handshake(Handshake::Asana);

/// Dropbox. Notifications have no id and may be equal: they ask for the changes to be fetched.
pub const DROPBOX: Provider = Provider::new(
    "dropbox",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-dropbox-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
)
.with_handshake(Handshake::Dropbox);

/// Microsoft Graph, by the `clientState` of the first notification.
pub const MICROSOFT_GRAPH: Provider = Provider::new(
    "microsoft-graph",
    &Scheme {
        signature: Field {
            source: Source::JsonPointer("/value/0/clientState"),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::Token,
        encoding: Encoding::Text,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
)
.with_handshake(Handshake::MicrosoftGraph);

/// HubSpot, version 3. Needs [`Verifier::with_url`](super::super::Verifier::with_url).
pub const HUBSPOT: Provider = Provider::new(
    "hubspot",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-hubspot-signature-v3"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Method, Part::Url, Part::Body, Part::Timestamp],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::header(
            &["x-hubspot-request-timestamp"],
            TimeUnit::Milliseconds,
        )),
        id: IdSource::SignedContent,
    },
);

#[cfg(feature = "sha1")]
/// Intercom.
pub const INTERCOM: Provider = Provider::new(
    "intercom",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-hub-signature"]),
            grammar: Grammar::Whole { prefix: "sha1=" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha1,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/id"),
    },
)
.with_handshake(Handshake::Head);

/// Zendesk.
pub const ZENDESK: Provider = Provider::new(
    "zendesk",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-zendesk-webhook-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Timestamp, Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::header(
            &["x-zendesk-webhook-signature-timestamp"],
            TimeUnit::Rfc3339,
        )),
        id: IdSource::SignedContent,
    },
);

/// Typeform.
pub const TYPEFORM: Provider = Provider::new(
    "typeform",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["typeform-signature"]),
            grammar: Grammar::Whole { prefix: "sha256=" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/event_id"),
    },
);

/// Calendly.
pub const CALENDLY: Provider = Provider::new(
    "calendly",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["calendly-webhook-signature"]),
            grammar: Grammar::Pairs {
                signature: "v1",
                timestamp: Some("t"),
                separator: ',',
            },
        },
        signed: &[Part::Timestamp, Part::Text("."), Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::pair(TimeUnit::Seconds)),
        id: IdSource::SignedContent,
    },
);

/// DocuSign Connect, with up to ten keys.
pub const DOCUSIGN: Provider = Provider::new(
    "docusign",
    &Scheme {
        signature: Field {
            source: Source::Headers(&[
                "x-docusign-signature-1",
                "x-docusign-signature-2",
                "x-docusign-signature-3",
                "x-docusign-signature-4",
                "x-docusign-signature-5",
                "x-docusign-signature-6",
                "x-docusign-signature-7",
                "x-docusign-signature-8",
                "x-docusign-signature-9",
                "x-docusign-signature-10",
            ]),
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

/// Box.
pub const BOX: Provider = Provider::new(
    "box",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["box-signature-primary", "box-signature-secondary"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body, Part::Timestamp],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Utf8,
        timestamp: Some(
            TimestampField::header(&["box-delivery-timestamp"], TimeUnit::Rfc3339)
                .with_tolerance(Duration::from_secs(600)),
        ),
        id: IdSource::JsonPointer("/id"),
    },
);

#[cfg(feature = "sha1")]
/// Trello. Needs [`Verifier::with_url`](super::super::Verifier::with_url).
pub const TRELLO: Provider = Provider::new(
    "trello",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-trello-webhook"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body, Part::Url],
        check: Check::HmacSha1,
        encoding: Encoding::Base64,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/action/id"),
    },
)
.with_handshake(Handshake::Head);

/// Webflow.
pub const WEBFLOW: Provider = Provider::new(
    "webflow",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-webflow-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Timestamp, Part::Text(":"), Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::header(
            &["x-webflow-timestamp"],
            TimeUnit::Milliseconds,
        )),
        id: IdSource::SignedContent,
    },
);

/// Airtable. The key is base64.
pub const AIRTABLE: Provider = Provider::new(
    "airtable",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-airtable-content-mac"]),
            grammar: Grammar::Whole {
                prefix: "hmac-sha256=",
            },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Base64,
        timestamp: None,
        id: IdSource::SignedContent,
    },
);

/// Mux.
pub const MUX: Provider = Provider::new(
    "mux",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["mux-signature"]),
            grammar: Grammar::Pairs {
                signature: "v1",
                timestamp: Some("t"),
                separator: ',',
            },
        },
        signed: &[Part::Timestamp, Part::Text("."), Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::pair(TimeUnit::Seconds)),
        id: IdSource::JsonPointer("/id"),
    },
);

/// Cloudflare Stream.
pub const CLOUDFLARE_STREAM: Provider = Provider::new(
    "cloudflare-stream",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["webhook-signature"]),
            grammar: Grammar::Pairs {
                signature: "sig1",
                timestamp: Some("time"),
                separator: ',',
            },
        },
        signed: &[Part::Timestamp, Part::Text("."), Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::pair(TimeUnit::Seconds)),
        id: IdSource::SignedContent,
    },
);

/// WorkOS.
pub const WORKOS: Provider = Provider::new(
    "workos",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["workos-signature"]),
            grammar: Grammar::Pairs {
                signature: "v1",
                timestamp: Some("t"),
                separator: ',',
            },
        },
        signed: &[Part::Timestamp, Part::Text("."), Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::pair(TimeUnit::Milliseconds)),
        id: IdSource::JsonPointer("/id"),
    },
);
