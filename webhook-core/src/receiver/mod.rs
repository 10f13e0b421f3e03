//! The receiving end: verify, recognise repetitions, queue, answer at once.
//!
//! [`Verifier`] is pure, and its [`Verified`] the only way to a payload. [`Dedupe`] is the port to the store that claims an
//! event and queues it in one step; where the queue is another system, [`ClaimThenQueue`] makes two of it. [`Receiver`] is both behind one endpoint; the work itself is done later, by whoever takes
//! from the [`Inbox`].
//!
//! ```
//! use webhook_core::ports::SystemClock;
//! use std::{sync::Arc, time::{Duration, SystemTime}};
//! use bytes::Bytes;
//! use http::{Request, StatusCode};
//! use webhook_core::{
//!     event::Envelope, memory::MemoryInbox, receiver::{Inbox, Receiver, Verifier}, secret::SigningSecret,
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
//! # let event = Envelope::new("evt_1".parse()?, "charge.created".parse()?, "1".parse()?, now, br#"{"id":"ch_1"}"#)?;
//! let mut request = Request::post("/webhooks").body(event.bytes().clone())?;
//! Signers::from(Signer::standard_webhooks(&secret)).sign(event.id(), now, event.bytes()).insert_into(request.headers_mut());
//! assert_eq!(receiver.receive(request.clone()).await.status(), StatusCode::NO_CONTENT);
//! assert_eq!(receiver.receive(request).await.status(), StatusCode::NO_CONTENT); // a repetition: acknowledged, not queued
//!
//! let jobs = inbox.take(64, now, Duration::from_secs(60)).await?;
//! assert_eq!(jobs.len(), 1);
//! let event = Envelope::parse(jobs[0].body.clone())?; // the work, idempotent as it may be done twice after a crash
//! assert_eq!(event.event_type().as_str(), "charge.created");
//! inbox.finish(&jobs[0].ticket).await?;
//! # Ok(())
//! # }
//! ```

mod config;
mod dedupe;
pub mod diagnosis;
mod endpoint;
mod failure;
mod inbox;
mod keys;
mod order;
mod two_phase;
mod verified;
mod verify;

pub use config::{ConfigError, Mistake, ReceiverBuilder};
pub use dedupe::{BodyDigest, Claim, Dedupe, EventKey, Incoming};
pub use endpoint::{ReceiveOutcome, Receiver};
pub use failure::{VerifyError, VerifyFailure};
pub use inbox::{Finish, Inbox, Queued, Ticket};
pub use order::{Advance, InvalidResourceId, LatestSeen, Position, ResourceId, ResourceKey};
pub use two_phase::{Begun, ClaimThenQueue, Claims, Queue};
pub use verified::Verified;
pub use verify::Verifier;
