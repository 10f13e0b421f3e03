//! A sealer that a host can copy: AES-256-GCM with a fresh nonce for each seal.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use webhook_core::ports::{SealError, Sealer};

pub(crate) struct Aes256Gcm(RandomizedNonceKey);

impl Aes256Gcm {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(RandomizedNonceKey::new(&AES_256_GCM, key).unwrap())
    }
}

impl Sealer for Aes256Gcm {
    fn seal(&self, plain: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut sealed = plain.to_vec();
        let nonce = self.0.seal_in_place_append_tag(Aad::from(context), &mut sealed);
        let nonce = nonce.map_err(|_| SealError::new("no nonce could be drawn"))?;
        Ok([nonce.as_ref().as_slice(), &sealed].concat())
    }

    fn open(&self, sealed: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError> {
        let refused = SealError::new("sealed for another endpoint or with another key");
        let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN).ok_or(refused)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| refused)?;
        let mut plain = sealed.to_vec();
        let opened = self.0.open_in_place(nonce, Aad::from(context), &mut plain);
        Ok(opened.map_err(|_| refused)?.to_vec())
    }
}
