//! Crates of a receiver, and its memory while it verifies.

use std::{collections::BTreeSet, process::Command};

use allocation_counter::measure;

use super::{now, signed, symmetric, verifier};

/// Maximum number of crates of a receiver alone, itself included.
const CRATES: usize = 36;

/// Crates of webhook-core with these features, as `cargo tree` lists them.
fn crates(features: &str) -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "-e",
            "normal",
            "--prefix",
            "none",
        ])
        .args(["--no-default-features", "--features", features])
        .args([
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ])
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let lines = String::from_utf8(tree.stdout).unwrap();
    lines
        .lines()
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect()
}

/// W22: a receiver alone needs at most 36 crates: no URLs, no futures, and no algorithm of a
/// feature that is off.
#[test]
fn receiver_alone_needs_few_crates() {
    let crates = crates("receiver");
    assert!(
        crates.contains("webhook-core") && crates.contains("hmac"),
        "{crates:?}"
    );
    assert!(crates.len() <= CRATES, "{}: {crates:?}", crates.len());
    for other in [
        "url",
        "futures-util",
        "sha1",
        "ed25519-dalek",
        "p256",
        "juniper",
        "tokio",
    ] {
        assert!(!crates.contains(other), "{other}");
    }
}

/// W22: each algorithm comes with its feature.
#[test]
fn algorithms_come_with_their_features() {
    for (feature, name) in [("sha1", "sha1"), ("ed25519", "ed25519-dalek"), ("ecdsa", "p256")] {
        assert!(crates(&format!("receiver,{feature}")).contains(name), "{feature}");
    }
    assert!(crates("sender").contains("url"));
}

/// Providers whose scheme reads members of a JSON body, or sorts a form.
const ALLOCATING: [&str; 4] = ["figma", "linear", "microsoft-graph", "twilio"];

/// W22: the request of a provider is verified without an allocation, except for the four whose
/// scheme needs members of the body or a sorted form.
#[test]
fn verifying_a_provider_allocates_nothing() {
    let mut allocating = Vec::new();
    let mut count = 0;
    for provider in symmetric() {
        let request = signed(provider, 1, "evt_1", now());
        let (verifier, body) = (verifier(provider, &[1]), request.body().clone());
        let mut is_ok = false;
        let allocated = measure(|| is_ok = verifier.verify(&request, body, now()).is_ok());
        assert!(is_ok, "{}", provider.name());
        count += 1;
        if allocated.count_total > 0 {
            allocating.push(provider.name());
        }
    }
    allocating.sort_unstable();
    assert_eq!(allocating, ALLOCATING);
    assert!(count >= 60, "{count}");
}
