//! Browser sessions: sign-in, sign-out, cookies, timeouts, sign-out everywhere and password resets.
//!
//! The cookie has a secret of 256 random bits; the record in the store has the hash of the secret.
//! [`Sessions`] has the operations that a host calls. The methods of
//! [`SessionRecord`](crate::store::SessionRecord) are pure functions that decide each change of a
//! session, by the state table [`SessionState::after`].
//!
//! # Security
//!
//! Forms need the [`csrf_token`](SessionSecret::csrf_token) of the browser's session, which
//! [`SessionCookie::accepts_form`] checks:
//! `SameSite=Lax` does not stop requests from other hosts of the same registrable domain.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use oauth_core::ports::OsEntropy;
//! use oauth_core::secret::TokenHash;
//! use oauth_core::session::{SessionState, SessionTimeouts};
//! use oauth_core::store::{SessionId, SessionRecord};
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let (hash, id) = (TokenHash::new("the value of the cookie"), SessionId::generate(&OsEntropy));
//! let session = SessionRecord::new(hash, id, "ada".parse()?, SessionTimeouts::default(), now);
//! assert_eq!(session.state(now), SessionState::Active);
//! assert_eq!(session.state(now + Duration::from_secs(30 * 60)), SessionState::IdleExpired);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod cookie;
mod csrf;
mod resets;
mod secret;
mod sessions;
mod signed_in;

pub use crate::session_state::{SessionState, SessionTrigger};
pub use crate::session_timeouts::{InvalidTimeout, SessionTimeouts};
pub use cookie::{InvalidCookie, SessionCookie};
pub use secret::{InvalidSessionSecret, SessionSecret};
pub use sessions::Sessions;
pub use signed_in::{NewSession, Session, SignedOut};
