//! Idempotent requests with `Idempotency-Key`,
//! [draft-ietf-httpapi-idempotency-key-header-07](https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07):
//! a client can retry a POST, and it takes effect once.
//!
//! [`Idempotency::run`] claims the key in one atomic step of the [`IdempotencyStore`], runs the
//! handler and stores its response.
//!
//! | later request with the key | response |
//! |---|---|
//! | same request, first one completed | stored response with `Idempotency-Replayed: true` |
//! | same request, first one in progress | 409 with `Retry-After` |
//! | same request, outcome of the first one unknown or its response not stored | 409 |
//! | different request | 409, or 422 if configured |
//!
//! Refusals are [`Problem`](crate::errors::Problem)s. The host completes and sends them like its
//! own.
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_conventions::{
//!     errors::ProblemBase,
//!     idempotency::{Idempotency, MemoryIdempotencyStore, KeyScope},
//!     ports::{OsEntropy, SystemClock},
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryIdempotencyStore::default();
//! let problems = ProblemBase::new("https://api.example.com/problems/")?;
//! let idempotency = Idempotency::new(store, SystemClock, &OsEntropy, problems);
//!
//! let request = Request::post("/v1/charges")
//!     .header("Idempotency-Key", "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"")
//!     .body(Bytes::from_static(b"{\"amount\":1000}"))?;
//! let scope = KeyScope::new("user-7", "/v1/charges");
//!
//! let charge = async { Response::new(Bytes::from_static(b"{\"id\":\"ch_1\"}")) };
//! let first = idempotency.run(&request, scope, charge).await.expect("the charge is made");
//!
//! let never = async { unreachable!("the charge is made once") as Response<Bytes> };
//! let again = idempotency.run(&request, scope, never).await.expect("the first response");
//! assert_eq!(again.body(), first.body());
//! assert_eq!(again.headers()["idempotency-replayed"], "true");
//! # Ok(())
//! # }
//! ```
//!
//! # Rows and response in one transaction
//!
//! [`Idempotency::run_in_transaction`] is for handlers whose only effects are rows in the database
//! of the store. Rows and response are stored in one transaction: after a crash a retry gets the
//! response, or runs the handler if nothing was stored. Effects outside of the database may happen
//! again after a crash.
//!
//! # Contract
//!
//! - Authenticate, authorize, rate-limit and validate the request first. A refusal by these steps
//!   is not an outcome of the operation and must not be stored.
//! - Check `If-Match` inside the handler: the retry of a completed write must get its first
//!   response, not a 412.
//! - Spawn the future, so that it is not dropped when the client disconnects. A handler that is
//!   dropped or panics holds its key until the lease expires; [`AfterCrash`] decides what happens
//!   then.
//! - Limit the run time of every handler, and choose a lease that is longer. Leases are not
//!   renewed.
//! - By default an expired lease is not retried: later requests get 409
//!   `idempotency-outcome-unknown`. If the handler completes after all, later requests get its
//!   response.

mod capture;
mod decide;
mod endpoint;
mod fences;
mod fingerprint;
mod in_transaction;
mod key;
mod memory;
mod record;
mod reply;
mod settle;
mod store;

pub(crate) use self::capture::IDEMPOTENCY_REPLAYED;
pub use self::{
    decide::{ClaimOutcome, decide},
    endpoint::{Idempotency, MismatchStatus},
    fingerprint::Fingerprint,
    in_transaction::{Fenced, HeldKey, Receipt, Settlement},
    key::{IDEMPOTENCY_KEY, IdempotencyKey, InvalidIdempotencyKey, KeyScope, RecordKey},
    memory::MemoryIdempotencyStore,
    record::{AfterCrash, Claim, Fence, Record, RequestOutcome, State, StoredResponse},
    reply::{IntoReply, Reply},
    store::{IdempotencyStore, Settled},
};
