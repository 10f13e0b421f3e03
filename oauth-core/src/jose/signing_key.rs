//! Private keys for signing tokens.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::algorithm::Algorithm;
use super::backend;
use super::crypto::{Signer, SigningError};
use super::jwk::{InvalidKey, Jwk, PublicKey};
use super::pkcs8::{self, PrivateKeyPem};
use crate::ports::Entropy;

/// Maximum number of attempts to generate a P-256 key. About one 256-bit number in four billion is
/// not a valid private key.
const MAX_DRAWS: usize = 8;

/// A private key of one algorithm, together with its public key. Its `kid` is the JWK thumbprint of
/// the public key.
///
/// Cheap to clone. Its `Debug` output shows no secret. Only [`to_pkcs8_pem`](Self::to_pkcs8_pem)
/// exports the private key.
///
/// ```
/// use oauth_core::jose::{Algorithm, SigningKey};
/// use oauth_core::ports::OsEntropy;
///
/// let key = SigningKey::generate_es256(&OsEntropy)?;
/// assert_eq!(key.algorithm(), Algorithm::Es256);
/// assert_eq!(key.key_id(), key.public_key().thumbprint().to_string());
///
/// let stored = key.to_pkcs8_pem().expect("a generated key can be written");
/// assert_eq!(SigningKey::from_pkcs8_pem(stored.expose())?.key_id(), key.key_id());
/// # Ok::<(), oauth_core::jose::InvalidKey>(())
/// ```
#[derive(Clone)]
pub struct SigningKey {
    key_id: Arc<str>,
    public: Jwk,
    signer: Arc<dyn Signer>,
    document: Option<Arc<Zeroizing<Vec<u8>>>>,
}

impl SigningKey {
    /// Generates a P-256 key for ES256.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] when `entropy` returned eight invalid keys in a row, which does not occur
    /// with a working source of randomness.
    pub fn generate_es256(entropy: &dyn Entropy) -> Result<Self, InvalidKey> {
        let mut scalar = Zeroizing::new([0_u8; 32]);
        for _ in 0..MAX_DRAWS {
            entropy.fill(scalar.as_mut_slice());
            // the back end refuses zero and numbers beyond the order of the group
            if let Ok((_, PublicKey::P256 { x, y })) = backend::signer(&pkcs8::p256_without_public(&scalar)) {
                return Self::from_pkcs8_der(&pkcs8::p256(&scalar, &x, &y));
            }
        }
        Err(InvalidKey)
    }

    /// Generates an Ed25519 key for EdDSA.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] when the back end refuses the key, which does not occur for 32 bytes.
    pub fn generate_ed25519(entropy: &dyn Entropy) -> Result<Self, InvalidKey> {
        let mut seed = Zeroizing::new([0_u8; 32]);
        entropy.fill(seed.as_mut_slice());
        Self::from_pkcs8_der(&pkcs8::ed25519(&seed))
    }

    /// Decodes a P-256 or Ed25519 key from PKCS#8 DER.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] when the bytes are not a P-256 or Ed25519 private key. RSA is not supported
    /// for signing, because the pure Rust implementation has a timing leak.
    pub fn from_pkcs8_der(document: &[u8]) -> Result<Self, InvalidKey> {
        let (signer, public) = backend::signer(document)?;
        let document = Some(Arc::new(Zeroizing::new(document.to_vec())));
        Ok(Self {
            document,
            ..Self::from_parts(public, signer)
        })
    }

    /// Decodes a P-256 or Ed25519 key from PKCS#8 PEM (`BEGIN PRIVATE KEY`).
    ///
    /// # Errors
    ///
    /// See [`SigningKey::from_pkcs8_der`].
    pub fn from_pkcs8_pem(document: &str) -> Result<Self, InvalidKey> {
        Self::from_pkcs8_der(&pkcs8::from_pem(document)?)
    }

    /// Creates a key from a host's `signer`, for example a hardware module, and its `public` key.
    /// The host must make sure that the two match. A `kid` of `public` is replaced by the
    /// thumbprint.
    #[must_use]
    pub fn from_signer(public: &Jwk, signer: impl Signer + 'static) -> Self {
        Self::from_parts(public.public_key().clone(), Arc::new(signer))
    }

    fn from_parts(public: PublicKey, signer: Arc<dyn Signer>) -> Self {
        let key_id = public.thumbprint().to_string();
        Self {
            public: Jwk::new(Some(&key_id), public),
            key_id: key_id.into(),
            signer,
            document: None,
        }
    }

    /// Returns the `kid`: the JWK thumbprint of the public key.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Returns the algorithm.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.public.algorithm()
    }

    /// Returns the public key, for publication in a JWKS.
    #[must_use]
    pub fn public_key(&self) -> &Jwk {
        &self.public
    }

    /// Encodes the private key as PKCS#8 PEM; `None` for a key from
    /// [`from_signer`](Self::from_signer).
    #[must_use]
    pub fn to_pkcs8_pem(&self) -> Option<PrivateKeyPem> {
        self.document.as_ref().map(|document| pkcs8::to_pem(document))
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        self.signer.sign(message)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("key_id", &self.key_id)
            .field("algorithm", &self.algorithm())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::entropy_fn;

    fn key(byte: u8) -> SigningKey {
        SigningKey::generate_es256(&entropy_fn(move |bytes: &mut [u8]| bytes.fill(byte))).unwrap()
    }

    #[test]
    fn generated_key_signs_for_its_public_key() {
        for key in [
            key(7),
            SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap(),
        ] {
            let signature = key.sign(b"message").unwrap();
            assert_eq!(signature.len(), 64);
            assert_eq!(key.public_key().verify(b"message", &signature), Ok(()));
            assert!(key.public_key().verify(b"messagf", &signature).is_err());
            assert!(key.public_key().verify(b"message", &[0; 64]).is_err());
            assert!(key.public_key().verify(b"message", &[]).is_err());
        }
    }

    #[test]
    fn key_round_trips_through_pem() {
        for key in [
            key(1),
            SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(1))).unwrap(),
        ] {
            let pem = key.to_pkcs8_pem().unwrap();
            assert!(pem.expose().lines().all(|line| line.len() <= 64));
            let read = SigningKey::from_pkcs8_pem(pem.expose()).unwrap();
            assert_eq!(read.public_key(), key.public_key());
            assert_eq!(key.public_key().verify(b"m", &read.sign(b"m").unwrap()), Ok(()));
        }
    }

    /// The private key of RFC 8037 appendix A gives the public key and the signature of that
    /// appendix.
    #[test]
    fn the_ed25519_vector_of_rfc_8037_holds() {
        use base64::Engine;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let seed = URL_SAFE_NO_PAD
            .decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
            .unwrap();
        let key =
            SigningKey::generate_ed25519(&entropy_fn(move |bytes: &mut [u8]| bytes.copy_from_slice(&seed)))
                .unwrap();
        assert_eq!(key.key_id(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        let signature = key
            .sign(b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc")
            .unwrap();
        let expected =
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
        assert_eq!(URL_SAFE_NO_PAD.encode(signature), expected);
    }

    #[test]
    fn entropy_that_is_not_random_gives_no_key() {
        for byte in [0, 0xff] {
            assert!(
                SigningKey::generate_es256(&entropy_fn(move |bytes: &mut [u8]| bytes.fill(byte))).is_err()
            );
        }
    }

    #[test]
    fn rejects_malformed_private_keys() {
        for pem in [
            "",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n*\n-----END PRIVATE KEY-----",
        ] {
            assert!(SigningKey::from_pkcs8_pem(pem).is_err());
        }
        let pem = key(3).to_pkcs8_pem().unwrap();
        assert!(SigningKey::from_pkcs8_pem(&pem.expose().replace("PRIVATE", "PUBLIC")).is_err());
        assert!(SigningKey::from_pkcs8_der(&[0x30; 64]).is_err());
    }

    #[test]
    fn a_private_key_never_prints() {
        let key = key(9);
        assert_eq!(
            format!("{key:?}"),
            format!(
                "SigningKey {{ key_id: {:?}, algorithm: Es256, .. }}",
                key.key_id()
            )
        );
        assert_eq!(
            format!("{:?}", key.to_pkcs8_pem().unwrap()),
            "PrivateKeyPem([redacted])"
        );
    }

    #[test]
    fn threads_share_a_key() {
        let keys = [key(1), key(2)];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for key in keys.iter().chain(&keys) {
                        assert_eq!(key.public_key().verify(b"m", &key.sign(b"m").unwrap()), Ok(()));
                    }
                });
            }
        });
    }
}
