//! Payments and accounting.

use http::StatusCode;

use super::super::{Provider, Replies};
use crate::signature::scheme::{
    Check, Encoding, Field, Grammar, IdSource, KeyText, Part, Scheme, Source, TimeUnit, TimestampField,
};

/// Stripe.
pub const STRIPE: Provider = Provider::new(
    "stripe",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["stripe-signature"]),
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

/// Paddle Billing.
pub const PADDLE: Provider = Provider::new(
    "paddle",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["paddle-signature"]),
            grammar: Grammar::Pairs {
                signature: "h1",
                timestamp: Some("ts"),
                separator: ';',
            },
        },
        signed: &[Part::Timestamp, Part::Text(":"), Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::pair(TimeUnit::Seconds)),
        id: IdSource::JsonPointer("/event_id"),
    },
);

/// Lemon Squeezy.
pub const LEMON_SQUEEZY: Provider = Provider::new(
    "lemon-squeezy",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
);

/// Coinbase Commerce.
pub const COINBASE_COMMERCE: Provider = Provider::new(
    "coinbase-commerce",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-cc-webhook-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/event/id"),
    },
);

/// Square. Needs [`Verifier::with_url`](super::super::Verifier::with_url).
pub const SQUARE: Provider = Provider::new(
    "square",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-square-hmacsha256-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Url, Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/event_id"),
    },
);

/// Razorpay.
pub const RAZORPAY: Provider = Provider::new(
    "razorpay",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-razorpay-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
);

/// Paystack.
pub const PAYSTACK: Provider = Provider::new(
    "paystack",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-paystack-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha512,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
);

/// Flutterwave, by its secret hash.
pub const FLUTTERWAVE: Provider = Provider::new(
    "flutterwave",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["verif-hash"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::Token,
        encoding: Encoding::Text,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
);

/// GoCardless.
pub const GOCARDLESS: Provider = Provider::new(
    "gocardless",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["webhook-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
);

/// Adyen platform webhooks. The key is hexadecimal.
pub const ADYEN: Provider = Provider::new(
    "adyen",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["hmacsignature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Hex,
        timestamp: None,
        id: IdSource::SignedContent,
    },
);

/// Dwolla.
pub const DWOLLA: Provider = Provider::new(
    "dwolla",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-request-signature-sha-256"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/id"),
    },
);

/// Xero.
pub const XERO: Provider = Provider::new(
    "xero",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-xero-signature"]),
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
.with_replies(Replies {
    accepted: StatusCode::OK,
    refused: StatusCode::UNAUTHORIZED,
});

/// Intuit QuickBooks.
pub const QUICKBOOKS: Provider = Provider::new(
    "quickbooks",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["intuit-signature"]),
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

/// Flutterwave, version 4 of its API.
pub const FLUTTERWAVE_V4: Provider = Provider::new(
    "flutterwave-v4",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["flutterwave-signature"]),
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

/// Checkout.com.
pub const CHECKOUT_COM: Provider = Provider::new(
    "checkout-com",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["cko-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/id"),
    },
);

/// Mollie, webhooks with events. Its classic webhooks are not signed.
pub const MOLLIE: Provider = Provider::new(
    "mollie",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-mollie-signature"]),
            grammar: Grammar::Whole { prefix: "sha256=" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/id"),
    },
);

/// Airwallex.
pub const AIRWALLEX: Provider = Provider::new(
    "airwallex",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Timestamp, Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(TimestampField::header(&["x-timestamp"], TimeUnit::Milliseconds)),
        id: IdSource::JsonPointer("/id"),
    },
);
