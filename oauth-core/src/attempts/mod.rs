//! Guessing made slow: how often somebody may try a secret or a password before they have to wait
//! ([RFC 6749 §10.10](https://www.rfc-editor.org/rfc/rfc6749#section-10.10),
//! [NIST SP 800-63B §3.2.2](https://pages.nist.gov/800-63-4/sp800-63b.html)).
//!
//! An [`AttemptPolicy`] decides from a [`Tally`] and the time; an [`AttemptStore`](crate::store::AttemptStore) keeps the tallies and
//! makes each decision in one step, so that 32 guesses at once are no way around a limit of 5. There are two ways to ask:
//!
//! - **Before** a check that costs much, such as of a password: [`admit`](crate::store::AttemptStore::admit) counts, then the check is
//!   made, and [`forgive`](crate::store::AttemptStore::forgive) lets go of the count where it was right.
//! - **After** a check that costs little, such as of a client's secret, and before anybody is told what came of it:
//!   [`admit`](crate::store::AttemptStore::admit) counts what was wrong, and [`standing`](crate::store::AttemptStore::standing) holds what was
//!   right back where the wrong would be. A client may be right as often at once as it likes. The
//!   [`AuthorizationServer`](crate::server::AuthorizationServer) asks this way.
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
//! Whoever can make others wait can keep them out: an attacker who knows the name of an account or a client fails in its name, and
//! its owner waits too. What holds that back here:
//!
//! - **Where requests come from** is part of the key where the host says so, by a [`Source`] in the extensions of the request: an
//!   attacker then closes the door of their own address alone. Behind a proxy the host takes the address that the proxy vouches for,
//!   or gives none.
//! - **Failures alone are counted**, and a wait is short at first and doubles: one owner who mistypes hardly notices.
//! - **Clients have secrets of 256 random bits**, which nobody guesses: [`AttemptPolicy::CLIENTS`] is there for secrets that people
//!   chose, and for the noise. Public clients present no secret, are never counted, and cannot be kept out.
//! - Against one guess from each of many addresses there is a second key without the source and with a larger limit, which the
//!   host adds where it fears that more than the lock-out. It asks for the [`standing`](crate::store::AttemptStore::standing) of both
//!   before it counts at either: whoever waits for others is not to close their own door meanwhile.
//! - **What is not looked at is no attempt**: a host that can look at a few passwords at a time finds a place for one before it counts
//!   it. Otherwise a flood closes the doors of everybody who tries during it.

mod key;
mod policy;

pub use key::{AttemptKey, Source};
pub use policy::{Admission, AttemptDecision, AttemptPolicy, Tally};
