//! A POST that takes effect once, in an axum service.
//!
//! ```sh
//! cargo run -p http-conventions --example idempotent_post -- 127.0.0.1:8080
//! curl -i http://127.0.0.1:8080/charges -H 'Content-Type: application/json' \
//!     -H 'Idempotency-Key: 7' -d '{"amount": 500}'
//! ```
//!
//! The second `curl` gets the response of the first, with `Idempotency-Replayed: true`, and nothing
//! is charged. Another body with the same key gets 409; faulty content gets one problem document
//! that lists all faults.
//!
//! A service stores the keys in a database, such as host-store-sqlite or host-store-postgres.
#![expect(clippy::print_stdout, reason = "the example logs")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, error::Error, sync::Arc};

use axum::http::{self, HeaderValue, header::CONTENT_TYPE};
use axum::{Router, body::Body, extract::State, response::Response, routing::post};
use host_adapter_axum::{Admission, ConventionsLayer, Whole};
use http_conventions::content::JsonReader;
use http_conventions::idempotency::{KeyScope, MemoryIdempotencyStore};
use http_conventions::ports::{OsEntropy, SystemClock};
use http_conventions::routing::{Location, respond_created};
use http_conventions::{Conventions, Idempotency, Problem, ProblemBase};
use serde::Deserialize;
use tokio::net::TcpListener;

const PROBLEMS: &str = "https://api.example/problems/";

#[derive(Deserialize)]
struct NewCharge {
    amount: u32,
}

/// Creates a charge. The body of `charge` runs once for each key.
async fn create(
    State(charges): State<Arc<AtomicU32>>,
    Admission(exchange): Admission,
    Whole(request): Whole,
) -> Response {
    let conventions = exchange.conventions().clone();
    let charge = async {
        let new: NewCharge = JsonReader::new()
            .read(request.headers(), request.body())
            .map_err(|invalid| invalid.problem(conventions.problems()))?;
        let id = format!("ch_{}", charges.fetch_add(1, Ordering::Relaxed) + 1);
        println!("{id}: charged {}", new.amount);
        let location = Location::of_path(["charges", &id])?;
        let body = serde_json::json!({ "id": id, "amount": new.amount }).to_string();
        let mut created = respond_created(&location, http::Response::new(body.into()));
        created
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok::<_, Problem>(created)
    };
    // a service names the caller that it authenticated
    let scope = KeyScope::new("shop-7", "/charges");
    let answer = exchange.skip_rate_limit().run(&request, scope, charge).await;
    answer.map(Body::from)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).ok_or("missing argument: address")?;
    let store = MemoryIdempotencyStore::default();
    let keys = Idempotency::new(store, SystemClock, &OsEntropy, ProblemBase::new(PROBLEMS)?);
    let conventions = Conventions::builder(PROBLEMS, SystemClock, OsEntropy)
        .with_idempotency(keys)
        .build()?;
    let router = Router::new()
        .route("/charges", post(create))
        .layer(ConventionsLayer::new(conventions))
        .with_state(Arc::default());
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
