//! Token lifetimes per client.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use oauth_core::grant::{AccessTokenFormat, AccessTokenLifetime, RefreshTokenLifetime};
use oauth_core::memory::MemoryTokens;
use oauth_core::store::RegisteredClient;

use super::fixture::{Fixture, Tokens, assert_error};

const MINUTE: Duration = Duration::from_secs(60);

fn minutes(count: u32) -> AccessTokenLifetime {
    AccessTokenLifetime::new(count * MINUTE).unwrap()
}

async fn lives(fixture: &Fixture, minutes: u32) {
    let tokens = fixture.sign_in().await;
    assert_eq!(tokens.body["expires_in"], 60 * minutes);
    let tokens = Tokens::of(&fixture.refresh(&tokens.refresh).await);
    assert_eq!(tokens.body["expires_in"], 60 * minutes);
}

/// O21, O25: the lifetimes of a client apply at each grant; a JWT never exceeds the limit for JWTs.
#[tokio::test]
async fn access_token_lifetime_follows_client() {
    let service = vec![("grant_type", "client_credentials")];
    for (format, usual, asked, given) in [
        (AccessTokenFormat::Jwt, 10, 5, 5),
        (AccessTokenFormat::Jwt, 10, 15, 15),
        (AccessTokenFormat::Jwt, 10, 16, 10),
        (AccessTokenFormat::Opaque, 15, 60, 60),
    ] {
        let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
            builder.with_access_token_format(format)
        });
        lives(&fixture, usual).await;
        for client in ["web", "service"] {
            fixture
                .change_client(client, |client| client.with_access_token_lifetime(minutes(asked)))
                .await;
        }
        lives(&fixture, given).await;
        let tokens = Tokens::of(&fixture.token_as("service", &service).await);
        assert_eq!(tokens.body["expires_in"], 60 * given);
    }
}

/// O21, O25, 48: idle and absolute lifetimes apply to the nanosecond, and to this client only.
#[tokio::test]
async fn chain_lifetime_follows_client() {
    let fixture = Fixture::new();
    let lifetime = RefreshTokenLifetime::new(10 * MINUTE, 15 * MINUTE).unwrap();
    let before = fixture.sign_in().await;
    fixture
        .change_client("web", |client| client.with_refresh_token_lifetime(lifetime))
        .await;
    let (idle, busy) = (fixture.sign_in().await, fixture.sign_in().await);
    let begun = fixture.now();
    fixture.clock.set(begun + 10 * MINUTE - Duration::from_nanos(1));
    let busy = Tokens::of(&fixture.refresh(&busy.refresh).await);
    fixture.clock.set(begun + 10 * MINUTE);
    assert_error(&fixture.refresh(&idle.refresh).await, 400, "invalid_grant");
    fixture.clock.set(begun + 15 * MINUTE);
    assert_error(&fixture.refresh(&busy.refresh).await, 400, "invalid_grant");
    // an existing chain keeps its end
    Tokens::of(&fixture.refresh(&before.refresh).await);
}

/// O25: a record keeps the lifetimes; a record without them is read with defaults, and values out
/// of range are refused.
#[test]
fn a_record_keeps_the_lifetimes_of_its_client() {
    let client = RegisteredClient::public("native".parse().unwrap());
    let lifetime = RefreshTokenLifetime::new(MINUTE, 2 * MINUTE).unwrap();
    let with = client
        .clone()
        .with_access_token_lifetime(minutes(7))
        .with_refresh_token_lifetime(lifetime);
    let mut record = serde_json::to_value(&with).unwrap();
    assert_eq!(
        serde_json::from_value::<RegisteredClient>(record.clone()).unwrap(),
        with
    );
    for field in ["access_token_lifetime", "refresh_token_lifetime"] {
        let kept = record[field].take();
        let of_zero = serde_json::json!({ "secs": 0, "nanos": 0 });
        record[field] = match field {
            "access_token_lifetime" => of_zero,
            _ => serde_json::json!({ "idle": of_zero, "absolute": of_zero }),
        };
        assert!(serde_json::from_value::<RegisteredClient>(record.clone()).is_err());
        record[field] = kept;
    }
    let fields = record.as_object_mut().unwrap();
    fields.retain(|name, _| !name.ends_with("_lifetime"));
    assert_eq!(
        serde_json::from_value::<RegisteredClient>(record).unwrap(),
        client
    );
}
