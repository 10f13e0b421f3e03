//! `Idempotency-Key`,
//! [draft-ietf-httpapi-idempotency-key-header-07](https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07):
//! a POST that may be sent again and takes effect once.
//!
//! [`Idempotency::run`] claims the key in one atomic step of the [`IdempotencyStore`], runs the handler, and keeps its
//! answer. Whoever comes again with the same request gets that answer, with `Idempotency-Replayed: true`; with a different
//! request, a 409; before there is an answer, a 409 with `Retry-After`. These refusals are [`Problem`](crate::errors::Problem)s,
//! which the host completes and sends where it sends its own.
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
//! let again = idempotency.run(&request, scope, never).await.expect("the first answer");
//! assert_eq!(again.body(), first.body());
//! assert_eq!(again.headers()["idempotency-replayed"], "true");
//! # Ok(())
//! # }
//! ```
//!
//! # What the host must do
//!
//! - Authenticate, authorise, limit and validate before: what those steps refuse is not an outcome and must not be kept.
//!   Check `If-Match` inside the handler: a retried write must get its first answer, not a 412.
//! - Do not drop the future when the client hangs up: spawn it. A handler that is dropped or panics leaves its key claimed
//!   until the lease ends; [`AfterCrash`] says what happens then.
//! - Bound every handler by a time, and choose a lease beyond it. Leases are not renewed: a handler that hangs would keep its key
//!   for as long as its process lives. One that takes longer all the same is not run again beside itself by default: a repeat is
//!   told from the end of the lease on that nobody knows, and gets the answer once there is one.

mod capture;
mod decide;
mod endpoint;
mod fences;
mod fingerprint;
mod key;
mod memory;
mod record;
mod reply;
mod store;

pub(crate) use self::capture::IDEMPOTENCY_REPLAYED;
pub use self::{
    decide::{ClaimOutcome, decide},
    endpoint::{Idempotency, MismatchStatus},
    fingerprint::Fingerprint,
    key::{IDEMPOTENCY_KEY, IdempotencyKey, InvalidIdempotencyKey, KeyScope, RecordKey},
    memory::MemoryIdempotencyStore,
    record::{AfterCrash, Claim, Fence, Record, RequestOutcome, State, StoredResponse},
    reply::Reply,
    store::{IdempotencyStore, Settled},
};
