//! One set of ports is enough for the four crates.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use host_ports::testing::{ManualClock, ScriptedTransport, SeededEntropy};
use http_conventions::limits::{Policy, Quota};
use oauth_core::basic::BasicCredentials;
use oauth_core::{SigningKey, SigningKeys};
use one_host::{Host, Ports};

use crate::server::store;

/// X11: one clock, entropy source, transport and error mapping serve the four crates.
#[tokio::test]
async fn four_crates_share_one_set_of_ports() {
    let store = store!();
    let clock = Arc::new(ManualClock::new(
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000),
    ));
    let ports = Ports {
        clock: Arc::clone(&clock) as _,
        timer: clock,
        entropy: Arc::new(SeededEntropy::new(7)),
        transport: Arc::new(ScriptedTransport::new([])),
    };
    let keys = SigningKeys::new(SigningKey::generate_ed25519(&ports.entropy).unwrap());
    let credentials = BasicCredentials {
        client_id: "api".parse().unwrap(),
        secret: "a secret of this client alone".parse().unwrap(),
    };
    let issuer = "https://issuer.example/introspect".parse().unwrap();
    let host = Host::new(&ports, &store, keys, issuer, credentials).unwrap();

    let once = Policy::new("once", Quota::per(1, Duration::from_secs(60)).unwrap()).unwrap();
    assert!(host.limiter.check(&[once.spend("ada")]).await.is_ok());
    assert!(host.limiter.check(&[once.spend("ada")]).await.is_err());
    assert_eq!(host.dispatcher.run_due().await.unwrap().next_due, None);
}
