//! Argon2id in memory that is reused.
//!
//! Each hash takes 19 MiB. If each thread of a pool allocates and frees them, glibc's allocator
//! keeps hundreds of megabytes: 250 MB for one sign-in a second in ten minutes.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::password_hash::{Error, Result};
use argon2::{Algorithm, Argon2, Block, Params, Version};

/// Memory of earlier hashes, filled with zeros. It has as many parts as hashes have run at once.
#[derive(Clone, Default)]
pub(super) struct Memory(Arc<Mutex<Vec<Vec<Block>>>>);

impl Memory {
    /// Hashes a password under this salt, with the default parameters of the library.
    pub(super) fn hash(&self, password: &[u8], salt: &[u8]) -> Result<PasswordHash> {
        let function = Argon2::default();
        let salt = Salt::new(salt)?;
        let output = self.compute(&function, password, &salt)?;
        Ok(PasswordHash {
            algorithm: Algorithm::default().ident(),
            version: Some(Version::default().into()),
            params: ParamsString::try_from(function.params())?,
            salt: Some(salt),
            hash: Some(output),
        })
    }

    /// Returns `true` if `hash` is a hash of this password. Takes the parameters of `hash`, and
    /// compares in constant time.
    pub(super) fn verify(&self, password: &[u8], hash: &PasswordHash) -> Result<bool> {
        let (Some(salt), Some(expected)) = (&hash.salt, &hash.hash) else {
            return Err(Error::EncodingInvalid);
        };
        let algorithm = Algorithm::try_from(hash.algorithm.as_str())?;
        let version = hash.version.map(Version::try_from).transpose()?;
        let function = Argon2::new(algorithm, version.unwrap_or_default(), Params::try_from(hash)?);
        Ok(self.compute(&function, password, salt)? == *expected)
    }

    fn compute(&self, function: &Argon2<'_>, password: &[u8], salt: &[u8]) -> Result<Output> {
        let mut buffer = [0; Output::MAX_LENGTH];
        let length = function
            .params()
            .output_len()
            .unwrap_or(Params::DEFAULT_OUTPUT_LEN);
        let output = buffer.get_mut(..length).ok_or(Error::OutputSize)?;
        let mut blocks = self.parts().pop().unwrap_or_default();
        let count = function.params().block_count();
        if blocks.len() < count {
            blocks.resize(count, Block::default());
        }
        let part = blocks.get_mut(..count).unwrap_or_default();
        let computed = function.hash_password_into_with_memory(password, salt, output, part);
        // what is derived from a password stays in no memory
        blocks.fill(Block::default());
        self.parts().push(blocks);
        computed?;
        Ok(Output::new(output)?)
    }

    fn parts(&self) -> std::sync::MutexGuard<'_, Vec<Vec<Block>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};

    use super::*;

    const PASSWORD: &[u8] = b"correct horse battery staple";

    /// The library accepts our hashes, and we accept those of the library, in memory that an
    /// earlier hash has used.
    #[test]
    fn hashes_are_those_of_the_library() {
        let memory = Memory::default();
        for salt in [b"sixteen bytes...", b"other sixteen b."] {
            let own = memory.hash(PASSWORD, salt).unwrap();
            let theirs = Argon2::default().hash_password_with_salt(PASSWORD, salt).unwrap();
            assert_eq!(own.to_string(), theirs.to_string());
            assert_eq!(Argon2::default().verify_password(PASSWORD, &own), Ok(()));
            assert_eq!(memory.verify(PASSWORD, &theirs), Ok(true));
            assert_eq!(memory.verify(b"correct horse", &theirs), Ok(false));
        }
        assert_eq!(
            memory.parts().len(),
            1,
            "one part, since no two hashes ran at once"
        );
    }

    /// Other parameters and the other algorithms of a stored hash are taken from it.
    #[test]
    fn parameters_are_those_of_the_stored_hash() {
        let memory = Memory::default();
        for (algorithm, cost) in [(Algorithm::Argon2i, 64), (Algorithm::Argon2d, 20_000)] {
            let params = Params::new(cost, 1, 2, Some(24)).unwrap();
            let function = Argon2::new(algorithm, Version::V0x10, params);
            let theirs = function
                .hash_password_with_salt(PASSWORD, b"sixteen bytes...")
                .unwrap();
            assert_eq!(memory.verify(PASSWORD, &theirs), Ok(true), "{theirs}");
            assert_eq!(memory.verify(b"other", &theirs), Ok(false), "{theirs}");
        }
        let read = |text: &str| memory.verify(PASSWORD, &PasswordHash::new(text).unwrap());
        assert!(read("$argon2id$v=19$m=64,t=1,p=1").is_err());
        assert!(read("$scrypt$ln=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA").is_err());
    }

    /// Nothing that was derived from a password stays in memory.
    #[test]
    fn memory_is_cleared() {
        let memory = Memory::default();
        memory.hash(PASSWORD, b"sixteen bytes...").unwrap();
        let parts = memory.parts();
        assert!(
            parts[0]
                .iter()
                .all(|block| block.as_ref().iter().all(|word| *word == 0))
        );
    }
}
