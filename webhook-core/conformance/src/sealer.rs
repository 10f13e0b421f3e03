//! Test cases for implementations of [`Sealer`](webhook_core::ports::Sealer).
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// Test cases.
#[host_ports_conformance::kit(sealer)]
mod cases {
    use std::sync::Arc;
    use webhook_core::ports::Sealer;

    const PLAIN: &[u8] = b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn seal(sealer: &dyn Sealer, plain: &[u8]) -> Vec<u8> {
        sealer.seal(plain, b"ep_1").expect("it seals")
    }

    /// W16: a secret is decrypted for its endpoint, and refused for any other endpoint.
    pub async fn sealed_secret_opens_for_its_context_only(sealer: &Arc<dyn Sealer>) {
        for plain in [b"" as &[u8], PLAIN, &[0xff; 4096]] {
            let sealed = seal(sealer, plain);
            assert_eq!(sealer.open(&sealed, b"ep_1").expect("it opens"), plain);
            for context in [b"ep_2" as &[u8], b"", b"ep_1\0"] {
                assert!(sealer.open(&sealed, context).is_err(), "{context:?}");
            }
        }
    }

    /// W16: changed, truncated and extended ciphertexts are refused.
    pub async fn a_changed_seal_is_refused(sealer: &Arc<dyn Sealer>) {
        let sealed = seal(sealer, PLAIN);
        for (index, bit) in (0..sealed.len()).flat_map(|index| (0..8).map(move |bit| (index, bit))) {
            let mut changed = sealed.clone();
            if let Some(byte) = changed.get_mut(index) {
                *byte ^= 1 << bit;
            }
            assert!(
                sealer.open(&changed, b"ep_1").is_err(),
                "bit {bit} of byte {index}"
            );
        }
        for length in 0..sealed.len() {
            let cut = sealed.get(..length).unwrap_or_default();
            assert!(sealer.open(cut, b"ep_1").is_err(), "{length} bytes");
        }
        assert!(sealer.open(&[&sealed[..], &[0]].concat(), b"ep_1").is_err());
        assert!(sealer.open(PLAIN, b"ep_1").is_err(), "what was never sealed");
    }

    /// W16: the ciphertext reveals nothing, not even that two endpoints share a secret.
    pub async fn sealed_text_reveals_nothing(sealer: &Arc<dyn Sealer>) {
        let (first, second) = (seal(sealer, PLAIN), seal(sealer, PLAIN));
        assert_ne!(first, second);
        assert!(
            !first
                .windows(8)
                .any(|part| PLAIN.windows(8).any(|plain| plain == part))
        );
    }
}

pub use cases::*;
