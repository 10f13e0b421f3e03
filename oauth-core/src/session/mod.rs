//! Who is signed in at a browser, and how that ends.
//!
//! The cookie holds a secret of 256 random bits, and the store its hash beside the record. [`Sessions`] signs in and out, tells
//! who is there, ends everything of a person at once, and resets passwords. Below it are pure decisions: the
//! [table](SessionState::after) of states, and [`SessionRecord`](crate::store::SessionRecord), which follows it.
//!
//! A form needs the [`csrf_token`](SessionSecret::csrf_token) of its browser: `SameSite=Lax` alone lets the sites of one
//! domain post to each other.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use oauth_core::ports::OsEntropy;
//! use oauth_core::secret::TokenHash;
//! use oauth_core::session::{SessionState, SessionTimeouts};
//! use oauth_core::store::{SessionId, SessionRecord};
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let (hash, id) = (TokenHash::of("the value of the cookie"), SessionId::generate(&OsEntropy));
//! let session = SessionRecord::new(hash, id, "ada".parse()?, SessionTimeouts::default(), now);
//! assert_eq!(session.state(now), SessionState::Active);
//! assert_eq!(session.state(now + Duration::from_secs(30 * 60)), SessionState::IdleExpired);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod cookie;
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
