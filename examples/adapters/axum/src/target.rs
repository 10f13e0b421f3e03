//! What the client asked for: whoever is in a nested router sees what the prefix left of the path.

use axum::extract::OriginalUri;
use http::{Extensions, Uri};

/// The URI of the request line, where a router has noted it.
pub(crate) fn asked_for(uri: &Uri, extensions: &Extensions) -> Uri {
    match extensions.get() {
        Some(OriginalUri(asked_for)) => asked_for.clone(),
        None => uri.clone(),
    }
}
