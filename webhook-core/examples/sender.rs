//! Sends one event to a receiver and waits until it is acknowledged.
//!
//! ```sh
//! export SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
//! PROVIDER=standard-webhooks cargo run -p webhook-core --example axum_receiver
//! cargo run -p webhook-core --example sender -- http://127.0.0.1:8080/webhooks
//! ```
#![expect(clippy::print_stdout, reason = "the example logs")]
#![expect(clippy::disallowed_methods, reason = "a secret is read from the environment")]

use std::{env, error::Error, time::SystemTime};

use host_transport_hyper::HyperTransport;
use webhook_core::memory::{MemoryEndpoints, MemoryOutbox};
use webhook_core::ports::{OsEntropy, SystemClock, timer_fn};
use webhook_core::sender::{Audience, Disposition, Handled, Owner, StoredEvent};
use webhook_core::{AddressPolicy, Dispatcher, Endpoint, EndpointStore, Envelope, Signer, SigningSecret};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().nth(1).ok_or("usage: sender URL")?.parse()?;
    let secret = SigningSecret::from_whsec(&env::var("SECRET")?)?;
    // for this example only: a host calls public addresses alone
    let policy = AddressPolicy::new().danger_allow_loopback();

    // a service uses stores that survive a restart, such as host-store-postgres
    let (endpoints, outbox) = (MemoryEndpoints::default(), MemoryOutbox::default());
    let signer = Signer::standard_webhooks(&secret);
    endpoints
        .insert(Endpoint::register(
            "ep_1".parse()?,
            Owner::Tenant("acme".parse()?),
            &url,
            signer,
            &policy,
        )?)
        .await?;
    let transport = HyperTransport::new(policy.clone());
    let timer = timer_fn(tokio::time::sleep);
    let dispatcher = Dispatcher::new(outbox, endpoints, transport, SystemClock, timer, OsEntropy);
    let dispatcher = dispatcher.with_address_policy(policy);

    let now = SystemTime::now();
    let data = br#"{"id":"ch_1","amount":500}"#;
    let event = Envelope::new(
        "evt_1".parse()?,
        "charge.created".parse()?,
        "1".parse()?,
        now,
        data,
    )?;
    dispatcher
        .send(StoredEvent::new(event, Audience::tenant("acme".parse()?)))
        .await?;
    let report = dispatcher.run_due().await?;
    match report.handled.as_slice() {
        [
            Handled {
                disposition: Disposition::Acked,
                ..
            },
        ] => {
            println!("acknowledged");
            Ok(())
        }
        // a service calls `run` instead, which retries for days
        other => Err(format!("not acknowledged: {other:?}").into()),
    }
}
