//! Detection of RSA keys of a weak generator, ROCA
//! ([CVE-2017-15361](https://nvd.nist.gov/vuln/detail/CVE-2017-15361)).
//!
//! The generator made primes `k · M + (65537^a mod M)`, where `M` is a product of small primes. The
//! modulus is therefore a power of 65537 modulo each of these primes. The modulus of another
//! generator has this property for all primes below with a probability of about 2⁻²⁷.

/// Small primes for which few residues are powers of 65537.
const PRIMES: [u16; 17] = [
    11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157,
];

/// Returns `true` if the modulus, in big-endian bytes, is probably of the weak generator.
pub(super) fn is_fingerprint_of(modulus: &[u8]) -> bool {
    PRIMES
        .iter()
        .all(|&prime| is_power(remainder(modulus, prime), prime))
}

fn remainder(number: &[u8], prime: u16) -> u32 {
    let prime = u32::from(prime);
    number
        .iter()
        .fold(0, |remainder, &byte| (remainder * 256 + u32::from(byte)) % prime)
}

/// Returns `true` if `residue` is a power of 65537 modulo `prime`.
fn is_power(residue: u32, prime: u16) -> bool {
    let prime = u32::from(prime);
    let mut power = 1;
    // the powers repeat after at most `prime - 1` steps
    for _ in 1..prime {
        if power == residue {
            return true;
        }
        power = power * (65537 % prime) % prime;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O15, 78: a product of two powers of 65537 modulo the small primes has the fingerprint, and
    /// its neighbours have not.
    #[test]
    fn only_powers_of_65537_have_the_fingerprint() {
        // 65537 ^ 5, as bytes
        let power = 65537_u128.pow(5);
        assert!(is_fingerprint_of(&power.to_be_bytes()));
        for offset in 1..200_u128 {
            assert!(!is_fingerprint_of(&(power + offset).to_be_bytes()), "{offset}");
        }
    }
}
