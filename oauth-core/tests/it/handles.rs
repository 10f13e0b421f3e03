//! The types that a host keeps: they are cheap to clone, `Send` and `Sync`.

use oauth_core::client::{
    AuthorizationParams, Call, CallError, Client, Pending, PendingAuthorization, Ports, RefreshError,
    TokenError, TokenResponse, TokenSource,
};
use oauth_core::jose::{Jwk, KeySet, SigningKey};
use oauth_core::resource::{AuthenticatedToken, Challenge, ResourceServer};

#[test]
fn handles_are_clone_send_and_sync() {
    fn check<T: Clone + Send + Sync + 'static>() {}
    check::<AuthorizationParams>();
    check::<Client>();
    check::<Jwk>();
    check::<KeySet>();
    check::<Ports>();
    check::<AuthenticatedToken>();
    check::<Challenge>();
    check::<ResourceServer>();
    check::<SigningKey>();
    check::<TokenResponse>();
    check::<TokenSource>();
    check::<RefreshError>();
}

#[test]
fn pending_steps_are_send_and_sync() {
    fn check<T: Send + Sync + 'static>() {}
    check::<Call<TokenResponse>>();
    check::<CallError<TokenError>>();
    check::<Pending<TokenResponse>>();
    check::<PendingAuthorization>();
}
