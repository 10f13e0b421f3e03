//! The verbs of the token and session stores as values: what stands between a caller and a store sees each call and each
//! answer in one place.
//!
//! A [`Respond`] answers verbs. Every store is one; [`VerbStore`] makes a store of any other, so that what delays, loses,
//! records or spoils the answers of a store is one function:
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
//! struct Counted(Arc<dyn SessionStore>, AtomicU32);
//!
//! #[async_trait]
//! impl Respond for Counted {
//!     async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
//!         self.1.fetch_add(1, Ordering::Relaxed);
//!         self.0.respond(verb).await
//!     }
//! }
//!
//! # async fn count() -> Result<(), StoreError> {
//! let store = VerbStore(Counted(Arc::new(MemoryTokens::new()), AtomicU32::new(0)));
//! store.purge_tokens(std::time::SystemTime::UNIX_EPOCH).await?;
//! assert_eq!(store.0.1.load(Ordering::Relaxed), 1);
//! # Ok(())
//! # }
//! # use std::{pin::pin, task::{Context, Poll, Waker}};
//! # assert!(matches!(pin!(count()).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(()))));
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

/// One call of a store.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_enums,
    clippy::large_enum_variant,
    reason = "one of either port, for tests"
)]
pub enum Verb {
    /// Of [`TokenStore`].
    Token(TokenVerb),
    /// Of [`SessionStore`].
    Session(SessionVerb),
}

impl Verb {
    /// Whether it only reads.
    #[must_use]
    pub const fn is_lookup(&self) -> bool {
        match self {
            Self::Token(verb) => verb.is_lookup(),
            Self::Session(verb) => verb.is_lookup(),
        }
    }

    /// The instant that its caller takes for the present.
    pub const fn now_mut(&mut self) -> Option<&mut SystemTime> {
        match self {
            Self::Token(verb) => verb.now_mut(),
            Self::Session(verb) => verb.now_mut(),
        }
    }
}

/// What answers verbs as a store would.
#[async_trait]
pub trait Respond: Send + Sync {
    /// Does what the verb says.
    ///
    /// # Errors
    ///
    /// [`StoreError`], as the verb of the store has it.
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError>;
}

/// A store whose every verb is answered in one place.
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
            Verb::Token(verb) => verb.on(self).await,
            Verb::Session(verb) => verb.on(self).await,
        }
    }
}

#[async_trait]
impl Respond for dyn TokenStore + '_ {
    async fn respond(&self, verb: Verb) -> Result<Reply, StoreError> {
        match verb {
            Verb::Token(verb) => verb.on(self).await,
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

/// The kinds of answers, each with the type that the verb of the store answers.
macro_rules! replies {
    ($($(#[$doc:meta])* $kind:ident($answer:ty),)*) => {
        /// What a store answered.
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
                        other => Err(StoreError::corrupt(format!("{other:?} answers another verb"))),
                    }
                }
            }
        )*
    };
}

replies! {
    /// What became of an insert.
    Insertion(Insertion),
    /// A code.
    Code(Option<AuthorizationCodeRecord>),
    /// What became of redeeming a code.
    Redeem(RedeemOutcome),
    /// An access token.
    Access(Option<AccessTokenState>),
    /// A refresh token.
    Refresh(Option<RefreshTokenState>),
    /// What became of a rotation.
    Rotate(RotateOutcome),
    /// What became of a revocation.
    Revoke(RevokeOutcome),
    /// How many rows a purge dropped.
    Purged(u64),
    /// A session.
    Session(Option<SessionRecord>),
    /// What became of a use or a renewal.
    SessionOutcome(SessionOutcome),
    /// Some sessions.
    Sessions(Vec<SessionRecord>),
    /// How much ended.
    Revoked(Revoked),
    /// Done, and nothing to say about it.
    Done(()),
    /// A reset token.
    Reset(Option<ResetTokenRecord>),
    /// What became of redeeming a reset token.
    ResetOutcome(ResetOutcome),
}
