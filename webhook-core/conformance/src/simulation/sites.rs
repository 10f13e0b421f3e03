//! Receivers of a run: addresses, keys and behaviour.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{
    network::MEMORY,
    stores::SimulatedInbox,
    tenants::owner,
    world::{Actor, ActorClock, World},
};
use webhook_core::{
    address::AddressPolicy,
    receiver::{Dedupe, Receiver, Verifier},
    secret::SigningSecret,
    sender::{Endpoint, EndpointId},
    signature::Signer,
};

/// Error of the `Date` of the second receiver, which must not hold deliveries to other receivers.
const WRONG_DATE: Duration = Duration::from_secs(600);

/// Behaviour of a receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Temper {
    /// Responds with 2xx within a moment.
    Healthy,
    /// Responds with any result.
    Flaky,
    /// Mostly responds with 429.
    Throttling,
    /// Accepts connections and never responds.
    Hung,
}

/// One receiver.
pub(super) struct Site {
    pub(super) index: usize,
    pub(super) endpoint: EndpointId,
    /// Error of the receiver's `Date`.
    pub(super) date_error: Duration,
    host: String,
    store: Arc<dyn Dedupe>,
    world: Arc<World>,
    now: Mutex<Now>,
}

struct Now {
    temper: Temper,
    receiver: Receiver,
}

/// All receivers.
pub(super) struct Sites(pub(super) Vec<Arc<Site>>);

impl Sites {
    pub(super) fn new(world: &Arc<World>, inbox: &Arc<dyn Dedupe>, tempers: &[Temper]) -> Arc<Self> {
        let sites = tempers.iter().enumerate();
        Arc::new(Self(
            sites
                .map(|(index, temper)| Arc::new(Site::new(world, inbox, index, *temper)))
                .collect(),
        ))
    }

    pub(super) fn by_host(&self, host: &str) -> Option<Arc<Site>> {
        self.0.iter().find(|site| site.host == host).cloned()
    }
}

impl Site {
    #[expect(clippy::expect_used, reason = "the ids are well-formed")]
    fn new(world: &Arc<World>, inbox: &Arc<dyn Dedupe>, index: usize, temper: Temper) -> Self {
        let endpoint: EndpointId = format!("ep_{index}").parse().expect("an id");
        let store: Arc<dyn Dedupe> = Arc::new(SimulatedInbox {
            inner: inbox.clone(),
            world: world.clone(),
            actor: Actor::Receiver(index),
            endpoint: endpoint.clone(),
            site: index,
            is_healthy: temper == Temper::Healthy,
        });
        let receiver = receiver(index, secret(index, 0), &store, world);
        Self {
            index,
            endpoint,
            date_error: if index == 1 { WRONG_DATE } else { Duration::ZERO },
            host: format!("ep-{index}.example.com"),
            store,
            world: world.clone(),
            now: Mutex::new(Now { temper, receiver }),
        }
    }

    /// Endpoint of the receiver, as it is registered at the sender.
    #[expect(clippy::expect_used, reason = "the URL is one that may be called")]
    pub(super) fn registration(&self) -> Endpoint {
        let url = format!("https://{}/", self.host).parse().expect("a URL");
        Endpoint::register(
            self.endpoint.clone(),
            owner(self.index),
            &url,
            self.signer(0),
            &AddressPolicy::new(),
        )
        .expect("a public name")
    }

    /// Signer after this number of rotations.
    pub(super) fn signer(&self, generation: usize) -> Signer {
        Signer::standard_webhooks(&secret(self.index, generation))
    }

    /// Accepts the secret of this generation only.
    pub(super) fn trust_only(&self, generation: usize) {
        self.world
            .tell(|| format!("receiver {}: trusts its secret {generation} only", self.index));
        let receiver = receiver(
            self.index,
            secret(self.index, generation),
            &self.store,
            &self.world,
        );
        self.change(|now| now.receiver = receiver);
    }

    /// Responds with 2xx from now on.
    pub(super) fn heal(&self) {
        self.change(|now| now.temper = Temper::Healthy);
    }

    pub(super) fn temper(&self) -> Temper {
        self.change(|now| now.temper)
    }

    pub(super) fn receiver(&self) -> Receiver {
        self.change(|now| now.receiver.clone())
    }

    /// Source of the receiver's events in the inbox, which all receivers share.
    pub(super) fn source(&self) -> String {
        source(self.index)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Now) -> T) -> T {
        change(&mut self.now.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[expect(clippy::expect_used, reason = "the settings are valid")]
fn receiver(index: usize, secret: SigningSecret, store: &Arc<dyn Dedupe>, world: &Arc<World>) -> Receiver {
    let clock = ActorClock(world.clone(), Actor::Receiver(index));
    Receiver::builder(
        &source(index),
        Verifier::standard_webhooks(secret),
        store.clone(),
        clock,
    )
    .with_memory(MEMORY)
    .build()
    .expect("valid settings")
}

fn source(index: usize) -> String {
    format!("site-{index}")
}

#[expect(clippy::expect_used, reason = "32 bytes are a secret")]
fn secret(index: usize, generation: usize) -> SigningSecret {
    let mut bytes = [7; 32];
    for (byte, number) in bytes.iter_mut().zip(index.to_le_bytes()) {
        *byte = number;
    }
    for (byte, number) in bytes.iter_mut().skip(8).zip(generation.to_le_bytes()) {
        *byte = number;
    }
    SigningSecret::from_bytes(&bytes).expect("a secret")
}
