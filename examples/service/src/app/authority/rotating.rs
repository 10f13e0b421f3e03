//! The authority with the keys of the present time.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use oauth_core::dpop::NonceKey;
use thiserror::Error;
use tokio::sync::Mutex;
use tracing::info;

use super::keys::{ACCESS_TOKENS, ID_TOKENS, KeyChain, KeyError, policy};
use super::plan::{RotationPlan, RotationPolicy};
use super::{Authority, AuthorityKeys, Parts};
use crate::app::open::{OpenError, at, secret_bytes};
use crate::desk::Desk;

/// Failure of a [`refresh`](RotatingAuthority::refresh).
#[derive(Debug, Error)]
pub(in crate::app) enum RefreshError {
    /// The stored keys could not be read or changed.
    #[error("cannot read or rotate the stored signing keys")]
    Keys(#[from] KeyError),
    /// The authorization server refused the keys.
    #[error("the authorization server refuses the signing keys")]
    Server(#[from] OpenError),
}

/// The stored keys of both purposes.
struct Chains {
    access_tokens: KeyChain,
    id_tokens: KeyChain,
}

/// The plans of both purposes at one time.
struct Plans {
    access_tokens: RotationPlan,
    id_tokens: RotationPlan,
}

/// The loaded keys, and the plans that the current authority was built by.
struct Loaded {
    chains: Chains,
    plans: Plans,
}

/// Authorization server and resource server, which are built anew when a plan changes.
pub(in crate::app) struct RotatingAuthority {
    parts: Parts,
    nonces: NonceKey,
    policy: RotationPolicy,
    loaded: Mutex<Loaded>,
    current: RwLock<Arc<Authority>>,
}

impl Chains {
    async fn load(desk: &Desk, policy: RotationPolicy, now: SystemTime) -> Result<Self, KeyError> {
        Ok(Self {
            access_tokens: KeyChain::load(desk, ACCESS_TOKENS, policy, now).await?,
            id_tokens: KeyChain::load(desk, ID_TOKENS, policy, now).await?,
        })
    }

    fn plan(&self, policy: RotationPolicy, now: SystemTime) -> Plans {
        Plans {
            access_tokens: self.access_tokens.plan(policy, now),
            id_tokens: self.id_tokens.plan(policy, now),
        }
    }

    fn keys(&self, plans: &Plans, nonces: &NonceKey) -> Result<AuthorityKeys, KeyError> {
        Ok(AuthorityKeys {
            nonces: nonces.clone(),
            access_tokens: self.access_tokens.signing_keys(&plans.access_tokens)?,
            id_tokens: self.id_tokens.signing_keys(&plans.id_tokens)?,
            accepted: self.access_tokens.accepted_keys(&plans.access_tokens)?,
        })
    }
}

impl Plans {
    fn changes_at(&self) -> SystemTime {
        self.access_tokens.changes_at.min(self.id_tokens.changes_at)
    }

    fn has_same_keys(&self, other: &Self) -> bool {
        self.access_tokens.has_same_keys(&other.access_tokens)
            && self.id_tokens.has_same_keys(&other.id_tokens)
    }
}

impl RotatingAuthority {
    /// Loads the keys, or creates the first ones, which sign for `signs_for` each: 2 to 365 days.
    pub(in crate::app) async fn open(parts: Parts, signs_for: Duration) -> Result<Self, OpenError> {
        let policy = policy(signs_for).map_err(at("the signing keys"))?;
        let now = parts.clock.now();
        let chains = Chains::load(&parts.desk, policy, now).await;
        let chains = chains.map_err(at("the signing keys"))?;
        let plans = chains.plan(policy, now);
        let nonces = NonceKey::from_bytes(secret_bytes(&parts.desk, "dpop-nonce-key").await?);
        let keys = chains.keys(&plans, &nonces).map_err(at("the signing keys"))?;
        let current = RwLock::new(Arc::new(Authority::new(&parts, keys)?));
        Ok(Self {
            parts,
            nonces,
            policy,
            loaded: Mutex::new(Loaded { chains, plans }),
            current,
        })
    }

    /// The authority of the present time.
    pub(in crate::app) fn current(&self) -> Arc<Authority> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the stored keys and takes the step of the rotation that is due; returns the time of
    /// the next one. If the database fails, the keys that are loaded follow their plan.
    pub(in crate::app) async fn refresh(&self) -> Result<SystemTime, RefreshError> {
        let mut loaded = self.loaded.lock().await;
        let now = self.parts.clock.now();
        let read = Chains::load(&self.parts.desk, self.policy, now).await;
        let failure = read.map(|chains| loaded.chains = chains).err();
        let plans = loaded.chains.plan(self.policy, now);
        if !plans.has_same_keys(&loaded.plans) {
            let keys = loaded.chains.keys(&plans, &self.nonces)?;
            let authority = Authority::new(&self.parts, keys)?;
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(authority);
            let (access_tokens, id_tokens) = (plans.access_tokens.active, plans.id_tokens.active);
            info!(access_tokens, id_tokens, "the signing keys have changed");
        }
        let changes_at = plans.changes_at();
        loaded.plans = plans;
        match failure {
            Some(error) => Err(error.into()),
            None => Ok(changes_at),
        }
    }
}
