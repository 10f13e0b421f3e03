//! The URI that the client requested: a nested router strips its prefix from the URI of the
//! request.

use axum::extract::OriginalUri;
use http::{Extensions, Uri};

/// Returns the URI of the request line, recorded by the outermost router.
pub(crate) fn asked_for(uri: &Uri, extensions: &Extensions) -> Uri {
    match extensions.get() {
        Some(OriginalUri(asked_for)) => asked_for.clone(),
        None => uri.clone(),
    }
}
