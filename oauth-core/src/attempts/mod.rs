//! Rate limits with backoff against guessing of secrets and passwords ([RFC 6749
//! §10.10](https://www.rfc-editor.org/rfc/rfc6749#section-10.10), [NIST SP 800-63B
//! §3.2.2](https://pages.nist.gov/800-63-4/sp800-63b.html)).
//!
//! An [`AttemptPolicy`] decides from a [`Tally`], the count of attempts under one key, and the
//! time. An [`AttemptStore`](crate::store::AttemptStore) keeps the tallies and makes each decision
//! in one atomic step, so that concurrent guesses do not exceed the limit. A host counts before or
//! after the check of the secret:
//!
//! - **Before an expensive check**, such as a password hash:
//!   [`admit`](crate::store::AttemptStore::admit) counts, then the host checks.
//!   [`forgive`](crate::store::AttemptStore::forgive) deletes the count after a correct attempt.
//! - **After a cheap check**, such as a client secret, and before the response:
//!   [`admit`](crate::store::AttemptStore::admit) counts a wrong attempt.
//!   [`standing`](crate::store::AttemptStore::standing) refuses a correct attempt while a wrong one
//!   would be refused, so the response does not reveal which attempt is correct. Correct attempts
//!   are not counted. The [`AuthorizationServer`](crate::server::AuthorizationServer) uses this
//!   order.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use oauth_core::attempts::{Admission, AttemptKey, AttemptPolicy};
//! use oauth_core::memory::MemoryAttempts;
//! use oauth_core::store::AttemptStore;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let (attempts, policy) = (MemoryAttempts::new(), AttemptPolicy::PASSWORDS);
//! let ada = AttemptKey::subject("ada@example.com");
//! let now = SystemTime::UNIX_EPOCH;
//! for _guess in 0..5 {
//!     assert_eq!(attempts.admit(&ada, &policy, now).await?, Admission::Admitted);
//! }
//! let retry_after = Duration::from_secs(30);
//! assert_eq!(attempts.admit(&ada, &policy, now).await?, Admission::Refused { retry_after });
//! assert_eq!(attempts.admit(&ada, &policy, now + retry_after).await?, Admission::Admitted);
//! attempts.forgive(&ada).await?; // that one was right
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example()).unwrap();
//! ```
//!
//! # Security
//!
//! A limit per account or client allows lock-out: an attacker who knows the name fails on purpose,
//! and the owner must wait. These measures limit the damage:
//!
//! - **Sources.** If the host puts a [`Source`] into the extensions of a request, the source is
//!   part of the key, and an attacker locks out only their own address. Behind a proxy, use the
//!   client address that the trusted proxy reports, or no source.
//! - **Backoff.** Only failures count, and the first wait is short and then doubles.
//! - **Generated client secrets** have 256 random bits and cannot be guessed.
//!   [`AttemptPolicy::CLIENTS`] therefore has short waits; it protects secrets that people chose,
//!   and limits load. Public clients present no secret, are never counted and cannot be locked out.
//! - **Distributed guessing** (one guess from each of many addresses) needs a second key without
//!   source and with a higher limit. A host that considers guessing worse than lock-out adds this
//!   key. The host calls [`standing`](crate::store::AttemptStore::standing) for both keys before it
//!   counts under either, so that a refusal by one key does not count under the other.
//! - **Unchecked attempts do not count.** A host that limits concurrent password checks acquires
//!   its permit before it counts; otherwise a flood locks out users whose attempts were never
//!   checked.

mod key;
mod policy;

pub use key::{AttemptKey, Source};
pub use policy::{Admission, AttemptDecision, AttemptPolicy, Tally};
