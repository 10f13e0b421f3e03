//! Stores charges and delivers an event about each to its receivers (Standard Webhooks).
//!
//! ```sh
//! export WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
//! cargo run -p webhook-receiver & # another terminal is better
//! cargo run -p webhook-sender -- shop.sqlite http://127.0.0.1:8090/ 500 1200
//! cargo run -p webhook-sender -- postgres://postgres@127.0.0.1/shop http://127.0.0.1:8090/ 500
//! ```
//!
//! - The store is an SQLite file, or a PostgreSQL database that several processes may share.
//! - A charge and its event are stored in one transaction.
//! - To deliver the stored events after a crash, start the program again without an amount. With
//!   `-` it reads amounts from standard input and delivers at the same time.
//! - On Ctrl-C or SIGTERM the program finishes open deliveries and ends.
//! - A receiver is registered once per store; its URL and secret do not change afterwards.
//! - If receivers refuse signatures because the clock of this machine is wrong, a line
//!   `clock.skewed` is printed to standard error. With `--hold-skew` these deliveries wait for the
//!   right clock; without it they are dead letters that can be replayed.
//!
//! `faults/run` kills, stops, freezes and misdates the program, and counts lost events.

mod deliver;
mod input;
mod options;
mod postgres;
mod shop;
mod sqlite;

use std::{error::Error, process::ExitCode, sync::Arc};

use deliver::{complain, say};
use host_transport_hyper::HyperTransport;
use options::Options;
use shop::Shop;
use tokio::sync::Notify;
use webhook_core::address::AddressPolicy;
use webhook_core::sender::{Dispatcher, Endpoint, Inserted, Owner};
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
    let Some(options) = Options::parse()? else {
        return Ok(());
    };
    if options.store.starts_with("postgres://") || options.store.starts_with("postgresql://") {
        serve(postgres::connect(&options.store).await?, &options).await
    } else {
        serve(sqlite::open(&options.store).await?, &options).await
    }
}

async fn serve(shop: impl Shop, options: &Options) -> Result<(), Failure> {
    // for this example only: a host calls public addresses alone
    let policy = AddressPolicy::new().danger_allow_loopback();
    register(&shop, options, &policy).await?;
    for amount in &options.amounts {
        say(&format!("stored {}", shop.book(*amount).await?));
    }
    let wake = Arc::new(Notify::new());
    if options.reads_input {
        tokio::spawn(input::book_lines(shop.clone(), Arc::clone(&wake)));
    }
    let dispatcher = Dispatcher::new(
        shop.clone(),
        shop.clone(),
        HyperTransport::new(policy.clone()),
        SystemClock,
        timer_fn(tokio::time::sleep),
        OsEntropy,
    );
    let mut dispatcher = dispatcher.with_address_policy(policy);
    if options.holds_skew {
        dispatcher = dispatcher.with_skew_hold();
    }
    tokio::select! {
        () = deliver::until_stopped(&dispatcher, &wake) => {}
        () = shop.watch(&wake) => {}
    }
    Ok(())
}

/// Registers the receivers that the store does not know.
async fn register(shop: &impl Shop, options: &Options, policy: &AddressPolicy) -> Result<(), Failure> {
    let signer = Signer::standard_webhooks(&SigningSecret::from_whsec(&options.secret)?);
    for (index, url) in options.urls.iter().enumerate() {
        let id = match index {
            0 => "receiver".to_owned(),
            further => format!("receiver-{}", further + 1),
        };
        let owner = Owner::Tenant(shop::TENANT.parse()?);
        let endpoint = Endpoint::register(id.parse()?, owner, &url.parse()?, signer.clone(), policy)?;
        if shop.insert(endpoint).await? == Inserted::AlreadyExists {
            complain(&format!("{id} stays as it is registered"));
        }
    }
    Ok(())
}
