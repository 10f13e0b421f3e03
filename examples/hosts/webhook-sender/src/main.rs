//! Stores charges and delivers an event about each to a receiver (Standard Webhooks).
//!
//! ```sh
//! export WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
//! cargo run -p webhook-receiver & # another terminal is better
//! cargo run -p webhook-sender -- shop.sqlite http://127.0.0.1:8090/ 500 1200
//! ```
//!
//! - A charge and its event are stored in one transaction.
//! - To deliver the stored events after a crash, start the program again without an amount.
//! - On Ctrl-C or SIGTERM the program finishes open deliveries and ends.
//! - The receiver is registered once per file; its URL and secret do not change afterwards.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it is for")]

mod charge;
mod deliver;
mod options;

use std::{error::Error, process::ExitCode};

use host_store_sqlite::Database;
use host_transport_hyper::HyperTransport;
use options::Options;
use webhook_core::address::AddressPolicy;
use webhook_core::sender::{Dispatcher, Endpoint, EndpointStore, Inserted};
use webhook_core::{
    ports::{OsEntropy, SystemClock, timer_fn},
    secret::SigningSecret,
    signature::Signer,
};

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    program::exit_code(run().await)
}

async fn run() -> Result<(), Failure> {
    let options = Options::parse()?;
    // for this example only: a host calls public addresses alone
    let policy = AddressPolicy::new().danger_allow_loopback();
    let database = Database::open(&options.file)?;
    database.migrate("shop", charge::TABLES).await?;
    let signer = Signer::standard_webhooks(&SigningSecret::from_whsec(&options.secret)?);
    let endpoint = Endpoint::register("receiver".parse()?, &options.url.parse()?, signer, &policy)?;
    if database.insert(endpoint).await? == Inserted::AlreadyExists {
        eprintln!("the receiver stays the one of {}", options.file);
    }
    for amount in options.amounts {
        println!("stored {}", charge::book(&database, amount).await?);
    }
    let transport = HyperTransport::new(policy.clone());
    let dispatcher = Dispatcher::new(
        database.clone(),
        database,
        transport,
        SystemClock,
        timer_fn(tokio::time::sleep),
        OsEntropy,
    );
    deliver::until_stopped(&dispatcher.with_address_policy(policy)).await;
    Ok(())
}
