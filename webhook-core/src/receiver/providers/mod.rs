//! Senders by name: their signature schemes and handshakes as data.
//!
//! ```
//! use webhook_core::receiver::providers;
//!
//! let stripe = providers::named("stripe").unwrap();
//! assert_eq!(stripe, providers::STRIPE);
//! assert!(providers::ALL.len() >= 30);
//! ```
//!
//! # Security
//!
//! - A provider that signs no id is de-duplicated by content: two events with the same bytes count
//!   as one. Ids in unsigned headers are never used, because a captured request could be sent again
//!   under another id.
//! - A provider that signs no timestamp cannot be protected against old requests, except by the
//!   memory of the receiver.
//! - A [`Check::Token`](crate::signature::scheme::Check::Token) proves only that the request comes
//!   from a party that knows the token.

mod business;
mod chat;
mod code;
mod payments;
mod standard;

use super::Provider;
pub use business::*;
pub use chat::*;
pub use code::*;
pub use payments::*;
pub use standard::*;

/// Provider of this name, in lower case with hyphens.
#[must_use]
pub fn named(name: &str) -> Option<Provider> {
    ALL.iter().copied().find(|provider| provider.name() == name)
}

/// All listed providers, in the order of their names.
pub const ALL: &[Provider] = &[
    ADYEN,
    AIRTABLE,
    AIRWALLEX,
    ASANA,
    BITBUCKET,
    BOX,
    CAL_COM,
    CALENDLY,
    CHECKOUT_COM,
    CIRCLECI,
    CLERK,
    CLICKUP,
    CLOUDFLARE_STREAM,
    COINBASE_COMMERCE,
    #[cfg(feature = "ed25519")]
    DISCORD,
    DOCUSIGN,
    DROPBOX,
    DWOLLA,
    ELEVENLABS,
    FIGMA,
    FLUTTERWAVE,
    FLUTTERWAVE_V4,
    GITEA,
    GITHUB,
    GITLAB,
    GITLAB_SIGNED,
    GOCARDLESS,
    HEROKU,
    HUBSPOT,
    #[cfg(feature = "sha1")]
    INTERCOM,
    LEMON_SQUEEZY,
    LINE,
    LINEAR,
    META,
    MICROSOFT_GRAPH,
    MOLLIE,
    MUX,
    NOTION,
    OPENAI,
    PADDLE,
    PAGERDUTY,
    PAYSTACK,
    POLAR,
    QUICKBOOKS,
    RAZORPAY,
    RESEND,
    #[cfg(feature = "ecdsa")]
    SENDGRID,
    SENTRY,
    SHOPIFY,
    SLACK,
    SQUARE,
    STANDARD_WEBHOOKS,
    STRIPE,
    SVIX,
    TELEGRAM,
    #[cfg(feature = "ed25519")]
    TELNYX,
    #[cfg(feature = "sha1")]
    TRELLO,
    #[cfg(feature = "sha1")]
    TWILIO,
    TWITCH,
    TYPEFORM,
    #[cfg(feature = "sha1")]
    VERCEL,
    WEBFLOW,
    WOOCOMMERCE,
    WORKOS,
    XERO,
    ZENDESK,
    ZOOM,
];
