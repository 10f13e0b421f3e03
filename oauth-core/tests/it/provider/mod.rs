//! Discovery and server metadata of the client, through its public API.

mod client;
mod discovery;
mod metadata;
mod place;

use oauth_core::vocabulary::Issuer;
use serde_json::{Value, json};

fn issuer() -> Issuer {
    "https://as.example".parse().unwrap()
}

/// The smallest valid metadata.
fn least() -> Value {
    json!({
        "issuer": "https://as.example",
        "authorization_endpoint": "https://as.example/authorize",
        "token_endpoint": "https://as.example/token",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
    })
}

/// The smallest metadata with a member set, or removed by `null`.
fn with(member: &str, value: Value) -> Value {
    let mut document = least();
    let members = document.as_object_mut().unwrap();
    match value {
        Value::Null => members.remove(member),
        value => members.insert(member.to_owned(), value),
    };
    document
}
