//! Verbs: calls of the token and session stores as values, so that one function handles every call
//! and its response.
//!
//! A [`Respond`] performs a verb and returns its response. The trait objects of [`TokenStore`] and
//! [`SessionStore`] implement it, and [`VerbStore`] makes a store from any implementation. A
//! wrapper that delays, loses, records or changes responses is therefore one function, such as this
//! one, which counts the calls:
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! use async_trait::async_trait;
//! use oauth_core::memory::MemoryTokens;
//! use oauth_core::store::{SessionStore, TokenStore};
//! use oauth_core::ports::StoreError;
//! use oauth_core_conformance::verbs::{Reply, Respond, Verb, VerbStore};
//!
//! struct CountingStore(Arc<dyn SessionStore>, AtomicU32);
//!
//! #[async_trait]
//! impl Respond for CountingStore {
//!     async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
//!         self.1.fetch_add(1, Ordering::Relaxed);
//!         self.0.respond(verb).await
//!     }
//! }
//!
//! # async fn count() -> Result<(), StoreError> {
//! let store = VerbStore(CountingStore(Arc::new(MemoryTokens::new()), AtomicU32::new(0)));
//! store.purge_tokens(std::time::SystemTime::UNIX_EPOCH).await?;
//! assert_eq!(store.0.1.load(Ordering::Relaxed), 1);
//! # Ok(())
//! # }
//! # use std::{pin::pin, task::{Context, Poll, Waker}};
//! # let polled = pin!(count()).poll(&mut Context::from_waker(Waker::noop()));
//! # assert!(matches!(polled, Poll::Ready(Ok(()))));
//! ```

mod session;
mod token;

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

pub use session::SessionVerb;
pub use token::TokenVerb;

use oauth_core::ports::StoreError;
use oauth_core::store::{
    AccessTokenState, AuthorizationCodeRecord, Insertion, RedeemOutcome, RefreshTokenState, ResetOutcome,
    ResetTokenRecord, RevokeOutcome, Revoked, RotateOutcome, SessionOutcome, SessionRecord, SessionStore,
    TokenStore,
};

/// A call of a method of [`TokenStore`] or [`SessionStore`], with its arguments.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_enums,
    clippy::large_enum_variant,
    reason = "one of either port, for tests"
)]
pub enum Verb {
    /// A call of [`TokenStore`].
    Token(TokenVerb),
    /// A call of [`SessionStore`].
    Session(SessionVerb),
}

impl Verb {
    /// Returns `true` if the verb only reads.
    #[must_use]
    pub const fn is_lookup(&self) -> bool {
        match self {
            Self::Token(verb) => verb.is_lookup(),
            Self::Session(verb) => verb.is_lookup(),
        }
    }

    /// Returns the `now` of the caller; `None` if the verb has none.
    pub const fn now_mut(&mut self) -> Option<&mut SystemTime> {
        match self {
            Self::Token(verb) => verb.now_mut(),
            Self::Session(verb) => verb.now_mut(),
        }
    }
}

/// A store as one function from verb to response.
#[async_trait]
pub trait Respond: Send + Sync {
    /// Performs the verb.
    ///
    /// # Errors
    ///
    /// [`StoreError`] of the called method, or [`StoreError::corrupt`] for a session verb on a
    /// store without sessions.
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError>;
}

/// A [`TokenStore`] and [`SessionStore`] over a [`Respond`].
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is what it holds")]
pub struct VerbStore<R>(pub R);

impl<R: Respond> VerbStore<R> {
    async fn ask<T: TryFrom<Reply, Error = StoreError>>(
        &self,
        verb: impl Into<Verb> + Send,
    ) -> Result<T, StoreError> {
        self.0.respond(verb.into()).await?.try_into()
    }
}

impl From<TokenVerb> for Verb {
    fn from(verb: TokenVerb) -> Self {
        Self::Token(verb)
    }
}

impl From<SessionVerb> for Verb {
    fn from(verb: SessionVerb) -> Self {
        Self::Session(verb)
    }
}

#[async_trait]
impl Respond for dyn SessionStore + '_ {
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
        match verb {
            Verb::Token(verb) => verb.call(self).await,
            Verb::Session(verb) => verb.call(self).await,
        }
    }
}

#[async_trait]
impl Respond for dyn TokenStore + '_ {
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
        match verb {
            Verb::Token(verb) => verb.call(self).await,
            Verb::Session(verb) => Err(StoreError::corrupt(format!(
                "{verb:?} on a store without sessions"
            ))),
        }
    }
}

#[async_trait]
impl<R: Respond + ?Sized> Respond for &R {
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
        (**self).respond(verb).await
    }
}

#[async_trait]
impl<R: Respond + ?Sized> Respond for Arc<R> {
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
        (**self).respond(verb).await
    }
}

/// The kinds of responses, each with the type that the store method returns.
macro_rules! replies {
    ($($(#[$doc:meta])* $kind:ident($answer:ty),)*) => {
        /// The response to a verb.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(clippy::exhaustive_enums, clippy::large_enum_variant, reason = "one of each type, for tests")]
        pub enum Reply {
            $($(#[$doc])* $kind($answer),)*
        }
        $(
            impl From<$answer> for Reply {
                fn from(answer: $answer) -> Self {
                    Self::$kind(answer)
                }
            }

            impl TryFrom<Reply> for $answer {
                type Error = StoreError;

                fn try_from(reply: Reply) -> Result<Self, StoreError> {
                    match reply {
                        Reply::$kind(answer) => Ok(answer),
                        other => Err(StoreError::corrupt(format!("{other:?} is the response to another verb"))),
                    }
                }
            }
        )*
    };
}

replies! {
    /// The result of an insert.
    Insertion(Insertion),
    /// A code, if it was found.
    Code(Option<AuthorizationCodeRecord>),
    /// The result of redeeming a code.
    Redeem(RedeemOutcome),
    /// An access token, if it was found.
    Access(Option<AccessTokenState>),
    /// A refresh token, if it was found.
    Refresh(Option<RefreshTokenState>),
    /// The result of a rotation.
    Rotate(RotateOutcome),
    /// The result of a revocation.
    Revoke(RevokeOutcome),
    /// The number of rows that a purge dropped.
    Purged(u64),
    /// A session, if it was found.
    Session(Option<SessionRecord>),
    /// The result of a touch or a renewal.
    SessionOutcome(SessionOutcome),
    /// A list of sessions.
    Sessions(Vec<SessionRecord>),
    /// The numbers of sessions, families, codes and reset tokens that were ended.
    Revoked(Revoked),
    /// The response of a verb that returns no value.
    Done(()),
    /// A reset token, if it was found.
    Reset(Option<ResetTokenRecord>),
    /// The result of redeeming a reset token.
    ResetOutcome(ResetOutcome),
}
