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

/// Algorithms that are tried for a document, one for each type of key.
const FROM_DOCUMENT: [Algorithm; 5] = [
    Algorithm::Es256,
    Algorithm::EdDsa,
    Algorithm::Es384,
    Algorithm::Es512,
    Algorithm::Rs256,
];

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
            let document = pkcs8::p256_without_public(&scalar);
            if let Ok((_, PublicKey::P256 { x, y })) = backend::signer(Algorithm::Es256, &document) {
                return Self::from_pkcs8_der(&pkcs8::p256(&scalar, &x, &y));
            }
        }
        Err(InvalidKey)
    }

    /// Generates a P-384 key for ES384.
    ///
    /// # Errors
    ///
    /// See [`generate_es256`](Self::generate_es256).
    pub fn generate_es384(entropy: &dyn Entropy) -> Result<Self, InvalidKey> {
        let mut scalar = Zeroizing::new([0_u8; 48]);
        for _ in 0..MAX_DRAWS {
            entropy.fill(scalar.as_mut_slice());
            let document = pkcs8::p384_without_public(&scalar);
            if let Ok((_, PublicKey::P384 { x, y })) = backend::signer(Algorithm::Es384, &document) {
                return Self::from_pkcs8_der(&pkcs8::p384(&scalar, &x, &y));
            }
        }
        Err(InvalidKey)
    }

    /// Generates an RSA key of 2048 bits for RS256. For another RSA algorithm call
    /// [`with_algorithm`](Self::with_algorithm), for a longer key use
    /// [`from_pkcs8_pem`](Self::from_pkcs8_pem). The randomness is that of AWS-LC.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] when AWS-LC cannot generate a key.
    #[cfg(feature = "aws-lc-rs")]
    pub fn generate_rsa() -> Result<Self, InvalidKey> {
        Self::from_pkcs8_der(&backend::generate_rsa()?)
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

    /// Decodes a P-256, P-384, P-521, Ed25519 or RSA key from PKCS#8 DER. An RSA key has 2048 to
    /// 8192 bits and is for RS256; for another RSA algorithm call
    /// [`with_algorithm`](Self::with_algorithm).
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] when the bytes are not such a private key. The back end `rust-crypto` also
    /// refuses RSA keys, because its RSA implementation has a timing leak.
    pub fn from_pkcs8_der(document: &[u8]) -> Result<Self, InvalidKey> {
        FROM_DOCUMENT
            .iter()
            .find_map(|algorithm| Self::decode(*algorithm, document).ok())
            .ok_or(InvalidKey)
    }

    /// Decodes a key for this algorithm.
    fn decode(algorithm: Algorithm, document: &[u8]) -> Result<Self, InvalidKey> {
        let (signer, public) = backend::signer(algorithm, document)?;
        let document = Some(Arc::new(Zeroizing::new(document.to_vec())));
        Ok(Self {
            document,
            ..Self::from_parts(public, algorithm, signer)
        })
    }

    /// Changes the algorithm of an RSA key, for example to PS256. A PEM document does not contain
    /// the algorithm: a host that stores the key must store it too.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] when the key has no such algorithm, or is from
    /// [`from_signer`](Self::from_signer).
    pub fn with_algorithm(self, algorithm: Algorithm) -> Result<Self, InvalidKey> {
        Self::decode(algorithm, self.document.as_ref().ok_or(InvalidKey)?)
    }

    /// Decodes a P-256, P-384, P-521, Ed25519 or RSA key from PKCS#8 PEM (`BEGIN PRIVATE KEY`).
    ///
    /// # Errors
    ///
    /// See [`SigningKey::from_pkcs8_der`].
    pub fn from_pkcs8_pem(document: &str) -> Result<Self, InvalidKey> {
        Self::from_pkcs8_der(&pkcs8::from_pem(document)?)
    }

    /// Creates a key from a host's `signer`, for example a hardware module, and its `public` key.
    /// The host must make sure that the two match, and that `signer` signs by the
    /// [`algorithm`](Jwk::algorithm) of `public`. A `kid` of `public` is replaced by the
    /// thumbprint.
    #[must_use]
    pub fn from_signer(public: &Jwk, signer: impl Signer + 'static) -> Self {
        let algorithm = public.algorithm();
        Self::from_parts(public.public_key().clone(), algorithm, Arc::new(signer))
    }

    fn from_parts(public: PublicKey, algorithm: Algorithm, signer: Arc<dyn Signer>) -> Self {
        let key_id = public.thumbprint().to_string();
        Self {
            public: Jwk::new(Some(&key_id), public, Some(algorithm)),
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
    use crate::jose::crypto::SignatureMismatch;
    use crate::ports::entropy_fn;

    /// A P-521 key that no server uses.
    #[cfg(feature = "aws-lc-rs")]
    const P521: &str = include_str!("tests/p521.pem");

    fn key(byte: u8) -> SigningKey {
        SigningKey::generate_es256(&entropy_fn(move |bytes: &mut [u8]| bytes.fill(byte))).unwrap()
    }

    fn verify(key: &SigningKey, message: &[u8], signature: &[u8]) -> Result<(), SignatureMismatch> {
        key.public_key().verify(key.algorithm(), message, signature)
    }

    #[test]
    fn generated_key_signs_for_its_public_key() {
        for key in [
            key(7),
            SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap(),
        ] {
            let signature = key.sign(b"message").unwrap();
            assert_eq!(signature.len(), 64);
            assert_eq!(verify(&key, b"message", &signature), Ok(()));
            assert!(verify(&key, b"messagf", &signature).is_err());
            assert!(verify(&key, b"message", &[0; 64]).is_err());
            assert!(verify(&key, b"message", &[]).is_err());
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
            assert_eq!(verify(&key, b"m", &read.sign(b"m").unwrap()), Ok(()));
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
                        assert_eq!(verify(key, b"m", &key.sign(b"m").unwrap()), Ok(()));
                    }
                });
            }
        });
    }

    /// O30: a key signs by its algorithm, and the signature is invalid under every other algorithm.
    #[cfg(feature = "aws-lc-rs")]
    #[test]
    fn each_algorithm_signs_and_no_other_verifies() {
        let rsa = SigningKey::generate_rsa().unwrap();
        let random = entropy_fn(|bytes: &mut [u8]| bytes.fill(7));
        let p521 = SigningKey::from_pkcs8_pem(P521).unwrap();
        assert_eq!(p521.algorithm(), Algorithm::Es512);
        for algorithm in Algorithm::ALL {
            let key = match algorithm {
                Algorithm::Es256 => SigningKey::generate_es256(&random).unwrap(),
                Algorithm::Es384 => SigningKey::generate_es384(&random).unwrap(),
                Algorithm::Es512 => p521.clone(),
                Algorithm::EdDsa => SigningKey::generate_ed25519(&random).unwrap(),
                rsa_algorithm => rsa.clone().with_algorithm(rsa_algorithm).unwrap(),
            };
            assert_eq!(key.algorithm(), algorithm);
            let signature = key.sign(b"m").unwrap();
            assert_eq!(verify(&key, b"m", &signature), Ok(()), "{algorithm}");
            // without `alg`, the key verifies all its algorithms, each with its own signatures only
            let open = Jwk::new(None, key.public_key().public_key().clone(), None);
            for other in Algorithm::ALL {
                let expected = if other == algorithm {
                    Ok(())
                } else {
                    Err(SignatureMismatch)
                };
                assert_eq!(
                    open.verify(other, b"m", &signature),
                    expected,
                    "{algorithm} as {other}"
                );
                assert_eq!(key.public_key().verify(other, b"m", &signature), expected);
            }
            assert_eq!(
                key.sign(b"m").unwrap() == signature,
                algorithm.is_deterministic(),
                "{algorithm}"
            );
            let stored = key.to_pkcs8_pem().unwrap();
            let read = SigningKey::from_pkcs8_pem(stored.expose()).unwrap();
            assert_eq!(
                read.with_algorithm(algorithm).unwrap().public_key(),
                key.public_key()
            );
        }
    }

    /// O30: an algorithm of another type of key is refused.
    #[test]
    fn a_key_gets_no_algorithm_of_another_key() {
        for algorithm in [
            Algorithm::Es384,
            Algorithm::EdDsa,
            Algorithm::Rs256,
            Algorithm::Ps256,
        ] {
            assert!(key(1).with_algorithm(algorithm).is_err(), "{algorithm}");
        }
    }
}
