//! The API: lists charges with the read scope, and creates them with the write scope.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::extract::{FromRef, Path, State};
use axum::response::Response;
use axum::routing::{any, get};
use axum::{Json, Router};
use host_adapter_axum::{Caller, Refusal, Whole};
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::routing::{Location, respond_created};
use oauth_core::ResourceServer;
use oauth_core::memory::MemoryReplays;
use oauth_core::ports::StoreError;
use oauth_core::store::ReplayStore;
use oauth_core::vocabulary::Scope;
use serde::{Deserialize, Serialize};

/// Scopes of the API.
pub(crate) const SCOPES: &str = "read:charges write:charges";

/// An amount to be paid.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Charge {
    amount: u32,
    currency: String,
}

#[derive(Clone)]
struct Charges {
    guard: ResourceServer,
    read: Scope,
    write: Scope,
    kept: Arc<Mutex<Vec<Charge>>>,
}

impl Charges {
    fn kept(&self) -> MutexGuard<'_, Vec<Charge>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The resource server that the extractor [`Caller`] uses.
impl FromRef<Charges> for ResourceServer {
    fn from_ref(charges: &Charges) -> Self {
        charges.guard.clone()
    }
}

/// The endpoints, and the protected resource metadata.
pub(crate) fn router(guard: ResourceServer) -> Result<Router, Box<dyn Error>> {
    let document = guard.metadata_path().ok_or("the API has no URL")?;
    let charges = Charges {
        read: "read:charges".parse()?,
        write: "write:charges".parse()?,
        kept: Arc::default(),
        guard,
    };
    Ok(Router::new()
        .route("/charges", get(list).post(create))
        .route("/charges/{number}", get(read))
        .route(&document, any(metadata))
        .with_state(charges))
}

async fn list(State(charges): State<Charges>, Caller(caller): Caller) -> Result<Json<Vec<Charge>>, Refusal> {
    caller.require(&charges.read)?;
    Ok(Json(charges.kept().clone()))
}

async fn read(
    State(charges): State<Charges>,
    Caller(caller): Caller,
    Path(number): Path<usize>,
) -> Result<Json<Charge>, Refusal> {
    caller.require(&charges.read)?;
    let charge = charges.kept().get(number).cloned();
    Ok(charge
        .map(Json)
        .ok_or_else(|| Problem::new(ErrorStatus::NOT_FOUND))?)
}

async fn create(
    State(charges): State<Charges>,
    Caller(caller): Caller,
    Whole(request): Whole,
) -> Result<Response, Refusal> {
    caller.require(&charges.write)?;
    let charge = serde_json::from_slice(request.body());
    let charge: Charge = charge.map_err(|_| Problem::new(ErrorStatus::UNPROCESSABLE_CONTENT))?;
    let mut kept = charges.kept();
    let location = Location::of_path(["charges", &kept.len().to_string()]).map_err(Problem::from)?;
    kept.push(charge);
    Ok(respond_created(&location, Response::default()))
}

async fn metadata(State(charges): State<Charges>, Whole(request): Whole) -> Response {
    charges.guard.metadata(&request).map(Body::from)
}

/// Purges expired DPoP proofs every minute. Returns if the store fails.
pub(crate) async fn forget(replays: Arc<MemoryReplays>) -> StoreError {
    loop {
        tokio::time::sleep(Duration::from_secs(60)).await;
        if let Err(error) = replays.purge_replays(SystemTime::now()).await {
            return error;
        }
    }
}
