//! Code hosting, builds and operations.

use std::time::Duration;

use super::super::{Handshake, Provider};
use crate::signature::scheme::{
    Check, Encoding, Field, Grammar, IdSource, KeyText, Part, Scheme, Source, TimeUnit, TimestampField,
};

/// GitHub. `X-GitHub-Delivery` is not signed, so duplicates are detected by content.
pub const GITHUB: Provider = Provider::new(
    "github",
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
);

/// GitLab, by its secret token.
pub const GITLAB: Provider = Provider::new(
    "gitlab",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-gitlab-token"]),
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

/// Bitbucket and Jira.
pub const BITBUCKET: Provider = Provider::new(
    "bitbucket",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-hub-signature"]),
            grammar: Grammar::Whole { prefix: "sha256=" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::SignedContent,
    },
);

/// Gitea and Forgejo.
pub const GITEA: Provider = Provider::new(
    "gitea",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-gitea-signature"]),
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

/// Linear. The timestamp is in the body.
pub const LINEAR: Provider = Provider::new(
    "linear",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["linear-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: Some(
            TimestampField::json_pointer("/webhookTimestamp", TimeUnit::Milliseconds)
                .with_tolerance(Duration::from_secs(60)),
        ),
        id: IdSource::SignedContent,
    },
);

#[cfg(feature = "sha1")]
/// Vercel.
pub const VERCEL: Provider = Provider::new(
    "vercel",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-vercel-signature"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha1,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/id"),
    },
);

/// Sentry.
pub const SENTRY: Provider = Provider::new(
    "sentry",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["sentry-hook-signature"]),
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

/// CircleCI.
pub const CIRCLECI: Provider = Provider::new(
    "circleci",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["circleci-signature"]),
            grammar: Grammar::Pairs {
                signature: "v1",
                timestamp: None,
                separator: ',',
            },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/id"),
    },
);

/// Heroku.
pub const HEROKU: Provider = Provider::new(
    "heroku",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["heroku-webhook-hmac-sha256"]),
            grammar: Grammar::Whole { prefix: "" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/id"),
    },
);

/// PagerDuty.
pub const PAGERDUTY: Provider = Provider::new(
    "pagerduty",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-pagerduty-signature"]),
            grammar: Grammar::Pairs {
                signature: "v1",
                timestamp: None,
                separator: ',',
            },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/event/id"),
    },
);

/// Notion.
pub const NOTION: Provider = Provider::new(
    "notion",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-notion-signature"]),
            grammar: Grammar::Whole { prefix: "sha256=" },
        },
        signed: &[Part::Body],
        check: Check::HmacSha256,
        encoding: Encoding::Hex,
        key: KeyText::Utf8,
        timestamp: None,
        id: IdSource::JsonPointer("/id"),
    },
)
.with_handshake(Handshake::Notion);

/// Figma, by the passcode in the body.
pub const FIGMA: Provider = Provider::new(
    "figma",
    &Scheme {
        signature: Field {
            source: Source::JsonPointer("/passcode"),
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

/// GitLab, by its signing token: Standard Webhooks.
pub const GITLAB_SIGNED: Provider = Provider::new("gitlab-signed", &Scheme::STANDARD_WEBHOOKS);

/// Cal.com.
pub const CAL_COM: Provider = Provider::new(
    "cal-com",
    &Scheme {
        signature: Field {
            source: Source::Headers(&["x-cal-signature-256"]),
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

/// ClickUp.
pub const CLICKUP: Provider = Provider::new(
    "clickup",
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
