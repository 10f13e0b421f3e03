use std::fmt;
use std::sync::Arc;

/// Source of random bytes for keys, tokens and identifiers.
///
/// # Contract
///
/// - `fill` overwrites every byte of the buffer.
/// - `fill` cannot fail. An implementation without randomness must panic.
///
/// # Security
///
/// Tokens, codes, secrets and cursor keys consist of these bytes. An implementation must be a
/// cryptographically secure generator.
pub trait Entropy: Send + Sync {
    /// Overwrites `buffer` with random bytes.
    fn fill(&self, buffer: &mut [u8]);
}

impl<E: Entropy + ?Sized> Entropy for Arc<E> {
    fn fill(&self, buffer: &mut [u8]) {
        (**self).fill(buffer);
    }
}

/// Makes an [`Entropy`] from a function.
///
/// ```
/// use host_ports::{Entropy, entropy_fn};
///
/// let sevens = entropy_fn(|buffer| buffer.fill(7));
/// let mut bytes = [0; 2];
/// sevens.fill(&mut bytes);
/// assert_eq!(bytes, [7, 7]);
/// ```
pub const fn entropy_fn<F>(fill: F) -> EntropyFn<F>
where
    F: Fn(&mut [u8]) + Send + Sync,
{
    EntropyFn(fill)
}

/// An [`Entropy`] made by [`entropy_fn`].
#[derive(Clone, Copy)]
pub struct EntropyFn<F>(F);

impl<F> fmt::Debug for EntropyFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EntropyFn")
    }
}

impl<F> Entropy for EntropyFn<F>
where
    F: Fn(&mut [u8]) + Send + Sync,
{
    fn fill(&self, buffer: &mut [u8]) {
        (self.0)(buffer);
    }
}
