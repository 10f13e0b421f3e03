//! Dummy keys. With them, verifying the assertion of an unknown client takes as long as verifying
//! that of a known client.
//!
//! The private keys are published in RFCs, so callers never accept a signature by a dummy key.
#![expect(clippy::expect_used, reason = "the keys are constants, and a test reads them")]

use std::sync::LazyLock;

use super::algorithm::Algorithm;
use super::jwk::Jwk;

/// [RFC 7515 §A.3](https://www.rfc-editor.org/rfc/rfc7515#appendix-A.3).
const ES256: &str = r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;
/// [RFC 8037 §A.2](https://www.rfc-editor.org/rfc/rfc8037#appendix-A.2).
const EDDSA: &str = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
/// [RFC 7515 §A.2](https://www.rfc-editor.org/rfc/rfc7515#appendix-A.2).
const RSA: &str = r#"{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}"#;

/// [RFC 6979 §A.2.6](https://www.rfc-editor.org/rfc/rfc6979#appendix-A.2.6).
const ES384: &str = r#"{"kty":"EC","crv":"P-384","x":"7DpOQVtOGaRWhhgCn0J_pdqai8SukuAuBqrlKGswDGTe-PDqkFWGYGSiVFFUgLwT","y":"gBXZty19VyROqO-awMYhiWcIpZNn-d-59UyoSz8cnbEoiyMcOuDU_nNE_SUzJkcg"}"#;
/// [RFC 7520 §3.1](https://www.rfc-editor.org/rfc/rfc7520#section-3.1).
const ES512: &str = r#"{"kty":"EC","crv":"P-521","x":"AHKZLLOsCOzz5cY97ewNUajB957y-C-U88c3v13nmGZx6sYl_oJXu9A5RkTKqjqvjyekWF-7ytDyRXYgCF5cj0Kt","y":"AdymlHvOiLxXkEhayXQnNCvDX4h9htZaCJN34kfmC6pV5OhQHiraVySsUdaQkAgDPrwQrJmbnX9cwlGfP-HqHZR1"}"#;

static KEYS: LazyLock<[Jwk; 5]> = LazyLock::new(|| {
    [ES256, ES384, ES512, EDDSA, RSA]
        .map(|document| Jwk::parse(document.as_bytes()).expect("a key of an RFC"))
});

/// Returns the dummy key for this algorithm.
pub(super) fn key(algorithm: Algorithm) -> &'static Jwk {
    let [es256, es384, es512, eddsa, rsa] = &*KEYS;
    match algorithm {
        Algorithm::Es256 => es256,
        Algorithm::Es384 => es384,
        Algorithm::Es512 => es512,
        Algorithm::EdDsa => eddsa,
        Algorithm::Rs256
        | Algorithm::Rs384
        | Algorithm::Rs512
        | Algorithm::Ps256
        | Algorithm::Ps384
        | Algorithm::Ps512 => rsa,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10: each dummy key has its algorithm.
    #[test]
    fn each_algorithm_has_a_dummy_key() {
        for algorithm in Algorithm::ALL {
            assert!(key(algorithm).can_verify(algorithm), "{algorithm}");
        }
    }
}
