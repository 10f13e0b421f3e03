//! Signature algorithms.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256, Sha384, Sha512};

/// A signature algorithm, [RFC 7518 §3.1](https://www.rfc-editor.org/rfc/rfc7518#section-3.1).
///
/// All algorithms are asymmetric: a published key can verify but not sign. The RSA algorithms
/// (`RS…` and `PS…`) sign only with the feature `aws-lc-rs`.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Algorithm {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// ECDSA on P-521 with SHA-512.
    Es512,
    /// Ed25519, [RFC 8037 §3.1](https://www.rfc-editor.org/rfc/rfc8037#section-3.1); the `alg` name
    /// `Ed25519` is also accepted.
    EdDsa,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 10] = [
        Self::Es256,
        Self::Es384,
        Self::Es512,
        Self::EdDsa,
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
    ];

    /// Algorithms of an RSA key.
    pub(super) const RSA: [Self; 6] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
    ];

    /// Returns the value of `alg` that this crate writes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Es512 => "ES512",
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
        }
    }

    /// Returns `true` if two signatures of one key over one message are equal. The signatures of
    /// the other algorithms contain a random number.
    pub(crate) const fn is_deterministic(self) -> bool {
        matches!(self, Self::EdDsa | Self::Rs256 | Self::Rs384 | Self::Rs512)
    }

    /// Returns the accepted values of `alg`: the name that this crate writes, and the
    /// fully-specified name of [RFC 9864 §2.2](https://www.rfc-editor.org/rfc/rfc9864#section-2.2).
    /// This crate writes the older name, because all peers accept it.
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::EdDsa => &["Ed25519", "EdDSA"],
            Self::Es256 => &["ES256"],
            Self::Es384 => &["ES384"],
            Self::Es512 => &["ES512"],
            Self::Rs256 => &["RS256"],
            Self::Rs384 => &["RS384"],
            Self::Rs512 => &["RS512"],
            Self::Ps256 => &["PS256"],
            Self::Ps384 => &["PS384"],
            Self::Ps512 => &["PS512"],
        }
    }

    /// Returns all accepted `alg` values of these algorithms, for metadata and challenges.
    pub(crate) fn names_of(algorithms: &[Self]) -> Vec<&'static str> {
        let names = algorithms.iter().flat_map(|algorithm| algorithm.names());
        names.copied().collect()
    }

    /// Returns the algorithm of an `alg` value, which is case-sensitive ([RFC 7515
    /// §4.1.1](https://www.rfc-editor.org/rfc/rfc7515#section-4.1.1)).
    pub(crate) fn of(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|algorithm| algorithm.names().contains(&name))
    }

    /// Returns the left half of the hash of `text` in base64url: the `at_hash` of an access token,
    /// [OpenID Connect Core
    /// §3.1.3.6](https://openid.net/specs/openid-connect-core-1_0.html#CodeIDToken).
    pub(super) fn half_hash(self, text: &str) -> String {
        use base64::Engine;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let digest = match self {
            Self::Es256 | Self::Rs256 | Self::Ps256 => Sha256::digest(text).to_vec(),
            Self::Es384 | Self::Rs384 | Self::Ps384 => Sha384::digest(text).to_vec(),
            // Ed25519 signs with SHA-512, so `at_hash` uses SHA-512 too
            Self::Es512 | Self::Rs512 | Self::Ps512 | Self::EdDsa => Sha512::digest(text).to_vec(),
        };
        let half: Vec<u8> = digest.iter().copied().take(digest.len() / 2).collect();
        URL_SAFE_NO_PAD.encode(half)
    }
}

impl From<Algorithm> for &'static str {
    fn from(algorithm: Algorithm) -> Self {
        algorithm.as_str()
    }
}

impl TryFrom<String> for Algorithm {
    type Error = UnknownAlgorithm;

    fn try_from(name: String) -> Result<Self, UnknownAlgorithm> {
        Self::of(&name).ok_or(UnknownAlgorithm)
    }
}

/// The name is not an algorithm of this crate.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a supported signature algorithm")]
pub struct UnknownAlgorithm;

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O18, 85: the `at_hash` and `c_hash` vectors of OpenID Connect Core appendix A.
    #[test]
    fn the_at_hash_vector_of_openid_connect_holds() {
        let token = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y";
        assert_eq!(Algorithm::Rs256.half_hash(token), "77QmUPtjPfzWtF2AnpK9RQ");
        assert_eq!(Algorithm::Es256.half_hash(token), "77QmUPtjPfzWtF2AnpK9RQ");
        assert_eq!(Algorithm::EdDsa.half_hash(token).len(), 43);
        let code = "Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk";
        assert_eq!(Algorithm::Rs256.half_hash(code), "LDktKdoQak3Pk0cnXxCltA");
    }

    /// O15, 65: `none`, HMAC names and names in another letter case are refused.
    #[test]
    fn only_exact_names_are_algorithms() {
        for name in [
            "none", "None", "NONE", "nOnE", "", "HS256", "HS512", "es256", "ES256 ", "ES256K", "eddsa",
            "PS257", "ps256", "RS1", "ed25519", "Ed448",
        ] {
            assert_eq!(Algorithm::of(name), None, "{name}");
        }
        for algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::of(algorithm.as_str()), Some(algorithm));
        }
        assert_eq!(Algorithm::of("Ed25519"), Some(Algorithm::EdDsa));
    }
}
