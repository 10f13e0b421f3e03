//! Conformance kit for [`InteractionStore`], in parts.
//!
//! `interaction_store!(#[tokio::test] expression)` expands to one test per case of all parts;
//! `expression` makes an empty store.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

pub mod interactions;
pub mod pushed;

use std::time::Duration;

pub use interactions::*;
pub use pushed::*;

use crate::records::{answer, grant, hash, start, thumbprint};
use oauth_core::pkce::CodeChallenge;
use oauth_core::store::{AuthorizationRequest, Insertion, InteractionRecord, InteractionStore, Prompt};

async fn stored(store: &dyn InteractionStore, label: &str) -> InteractionRecord {
    let record = interaction(label);
    assert_eq!(
        answer(store.insert_interaction(record.clone()).await),
        Insertion::Inserted
    );
    record
}

fn interaction(label: &str) -> InteractionRecord {
    InteractionRecord {
        id: hash(label),
        browser: hash("browser"),
        request: request(),
        pushed: None,
        created_at: start(),
        expires_at: start() + Duration::from_secs(600),
    }
}

fn request() -> AuthorizationRequest {
    let grant = grant();
    AuthorizationRequest {
        client_id: grant.client_id,
        redirect_uri: "https://app.example/callback?a=%27"
            .parse()
            .expect("a redirect uri"),
        scopes: grant.scopes,
        resources: grant.audience,
        state: Some("'\"\\ ; state".parse().expect("printable")),
        nonce: grant.nonce,
        code_challenge: CodeChallenge::from_bytes(*hash("challenge").as_bytes()),
        dpop_jkt: Some(thumbprint("key")),
        prompts: [Prompt::Login, Prompt::SelectAccount].into(),
        silent: true,
        max_age: Some(Duration::from_secs(u64::MAX)),
        login_hint: grant.name,
        expected_subject: Some(grant.subject),
        response_mode: oauth_core::vocabulary::ResponseMode::FormPost,
        ui_locales: Some("se en-GB".to_owned()),
    }
}
