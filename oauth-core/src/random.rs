//! Random identifiers and secrets.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use crate::ports::Entropy;

/// Generates a text: `prefix` followed by `BYTES` random bytes in base64url.
pub(crate) fn random_text<const BYTES: usize>(prefix: &str, entropy: &dyn Entropy) -> Zeroizing<String> {
    let mut bytes = Zeroizing::new([0_u8; BYTES]);
    entropy.fill(bytes.as_mut_slice());
    text_of(prefix, bytes.as_slice())
}

/// Creates a text: `prefix` followed by `bytes` in base64url.
pub(crate) fn text_of(prefix: &str, bytes: &[u8]) -> Zeroizing<String> {
    // full capacity at once, because growth would leave a copy of the secret in memory
    let mut text = Zeroizing::new(String::with_capacity(prefix.len() + bytes.len().div_ceil(3) * 4));
    text.push_str(prefix);
    URL_SAFE_NO_PAD.encode_string(bytes, &mut text);
    text
}
