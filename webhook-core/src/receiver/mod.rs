//! Receiver: verifies webhooks, removes duplicates, queues events and answers at once.
//!
//! - [`Verifier`] checks signature and timestamp of a request; it is pure. A payload is reachable
//!   only through the [`Verified`] value that it returns.
//! - [`providers`] lists senders by name: their signature schemes and handshakes. [`Verify`] is the
//!   port for a sender that no scheme can describe.
//! - [`Dedupe`] is the store port that claims an event id and queues the event in one atomic step.
//!   [`ClaimThenQueue`] implements it for a queue in another system, such as a broker.
//! - [`Receiver`] is the HTTP endpoint over [`Verify`] and [`Dedupe`]. [`Intake`] is the endpoint
//!   of a host that handles events within their requests.
//! - [`Inbox`] is the queue of events. [`Worker`] takes events from it and runs the host's work,
//!   whose rows can be committed together with the acknowledgement.
//! - [`LatestSeen`] lets workers drop events that are older than the state they have.
//! - [`diagnosis`] finds likely causes of a failed verification.
//!
//! ```
//! use std::{sync::Arc, time::SystemTime};
//! use http::{Request, StatusCode};
//! use webhook_core::{
//!     event::Envelope,
//!     memory::MemoryInbox,
//!     ports::{OsEntropy, SystemClock},
//!     receiver::{Queued, Receiver, Verifier, WorkFailure, WorkOutcome, Worker},
//!     secret::SigningSecret,
//!     signature::{Signer, Signers},
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let secret = SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
//! let inbox = Arc::new(MemoryInbox::default());
//! let verifier = Verifier::standard_webhooks(secret.clone());
//! let receiver = Receiver::builder("payments", verifier, inbox.clone(), SystemClock).build()?;
//!
//! # let now = SystemTime::now();
//! # let (id, kind, version) = ("evt_1".parse()?, "charge.created".parse()?, "1".parse()?);
//! # let event = Envelope::new(id, kind, version, now, br#"{"id":"ch_1"}"#)?;
//! let mut request = Request::post("/webhooks").body(event.bytes().clone())?;
//! let signers = Signers::from(Signer::standard_webhooks(&secret));
//! signers.sign(event.id(), now, event.bytes()).insert_into(request.headers_mut());
//! assert_eq!(receiver.receive(request.clone()).await.status(), StatusCode::NO_CONTENT);
//! // a duplicate is acknowledged and not queued again
//! assert_eq!(receiver.receive(request).await.status(), StatusCode::NO_CONTENT);
//!
//! // the work must be idempotent, because it may run twice after a crash
//! async fn work(event: &Queued) -> Result<(), WorkFailure> {
//!     let event = Envelope::parse(event.body.clone());
//!     let event = event.map_err(|error| WorkFailure::Permanent(error.to_string()))?;
//!     assert_eq!(event.event_type().as_str(), "charge.created");
//!     Ok(())
//! }
//!
//! let worker = Worker::new(inbox, SystemClock, OsEntropy);
//! let events = worker.take(64).await?;
//! assert_eq!(events.len(), 1);
//! assert_eq!(worker.run(&events[0], work(&events[0])).await?, WorkOutcome::Done);
//! # Ok(())
//! # }
//! ```

mod admission;
mod config;
mod dedupe;
pub mod diagnosis;
mod endpoint;
mod failure;
mod handshake;
mod in_transaction;
mod inbox;
mod intake;
mod keys;
mod order;
mod port;
mod provider;
pub mod providers;
mod two_phase;
mod verified;
mod verify;
mod work;
mod worker;

pub use admission::ReceiveOutcome;
pub use config::{ConfigError, Mistake, ReceiverBuilder};
pub use dedupe::{BodyDigest, Claim, Dedupe, EventKey, Incoming};
pub use endpoint::Receiver;
pub use failure::{VerifyError, VerifyFailure};
pub use handshake::{Handshake, HandshakeResult, Registration};
pub use in_transaction::{Fenced, Receipt};
pub use inbox::{Buried, BuriedQuery, Finish, Inbox, Queued, Ticket};
pub use intake::{ClaimedEvent, Intake, LeasedClaims};
pub use order::{Advance, InvalidResourceId, LatestSeen, Position, ResourceId, ResourceKey};
pub use port::{Evidence, Replies, Verify};
pub use provider::Provider;
pub use two_phase::{BeginOutcome, ClaimThenQueue, Claims, Queue};
pub use verified::Verified;
pub use verify::{Head, Verifier};
pub use work::{WorkDecision, WorkPolicy};
pub use worker::{WorkFailure, WorkOutcome, Worker};
