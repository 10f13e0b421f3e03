//! What a host holds on to.

use oauth_core::client::{
    AuthorizationGrant, Client, PendingAuthorization, PendingExchange, PendingRefresh, TokenResponse,
};
use oauth_core::jose::{Jwk, KeySet, SigningKey};
use oauth_core::resource::{Challenge, Principal, ResourceServer};

#[test]
fn handles_are_shared_and_cloned() {
    fn check<T: Clone + Send + Sync + 'static>() {}
    check::<Client>();
    check::<Jwk>();
    check::<KeySet>();
    check::<Principal>();
    check::<Challenge>();
    check::<ResourceServer>();
    check::<SigningKey>();
    check::<TokenResponse>();
}

#[test]
fn steps_wait_in_a_session_of_any_thread() {
    fn check<T: Send + Sync + 'static>() {}
    check::<AuthorizationGrant>();
    check::<PendingAuthorization>();
    check::<PendingExchange>();
    check::<PendingRefresh>();
}
