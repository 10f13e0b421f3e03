//! The tour over two instances of the desk behind a round-robin proxy.
//!
//! The tour moves the clock and reads the mail, so the instances are in this process and share
//! these two; everything else they share is in PostgreSQL and Redis.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ::tour::Outputs;
use host_store_postgres::Database;
use service::app::{App, Config};
use service::clock::DemoClock;
use service::mail::Mailbox;
use service::serve::Toured;
use tokio::sync::watch;

use crate::fan_out::redis;
use crate::postgres::Schema;
use crate::servers::Server;

/// Accepts connections and sends each to the next of `ports`. Returns the number of connections of
/// each port.
fn balance(listener: TcpListener, ports: [u16; 2]) -> Arc<[AtomicUsize; 2]> {
    let counts: Arc<[AtomicUsize; 2]> = Arc::default();
    let counted = Arc::clone(&counts);
    thread::spawn(move || {
        let turns = ports.into_iter().zip(counted.iter()).cycle();
        for (peer, (port, count)) in listener.incoming().map_while(Result::ok).zip(turns) {
            count.fetch_add(1, Ordering::SeqCst);
            let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            for (from, to) in [(&peer, &server), (&server, &peer)] {
                let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                thread::spawn(move || {
                    io::copy(&mut from, &mut to).ok();
                    to.shutdown(Shutdown::Write).ok();
                });
            }
        }
    });
    counts
}

/// Forwards the progress of both instances.
async fn merge([mut one, mut two]: [watch::Receiver<()>; 2], merged: watch::Sender<()>) {
    loop {
        let changed = tokio::select! {
            changed = one.changed() => changed,
            changed = two.changed() => changed,
        };
        if changed.is_err() {
            return;
        }
        merged.send_replace(());
    }
}

/// X6: the tour passes although each request goes to another instance than the one before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tour_passes_over_two_instances() {
    let (Some(schema), Some(redis)) = (Schema::fresh("round_robin"), redis("round_robin")) else {
        return;
    };
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [public, one, two] = listeners;
    let base_url = format!("http://{}", public.local_addr().unwrap());
    let ports = [&one, &two].map(|listener| listener.local_addr().unwrap().port());
    let (clock, letters) = (DemoClock::new(), Mailbox::default());
    let mut apps = Vec::new();
    for _ in 0..2 {
        let database = Database::connect(&schema.url()).await.unwrap();
        let mut config = Config::new(&base_url, database);
        config.redis = Some(host_store_redis::redis::Client::open(redis.as_str()).unwrap());
        config.clock = clock.clone();
        config.mail = letters.as_mail();
        config.danger_deliver_to_loopback = true;
        apps.push(Arc::new(App::open(config).await.unwrap()));
    }
    let [first, second] = apps.try_into().unwrap_or_else(|_| unreachable!());
    let (merged, progress) = watch::channel(());
    let merging = tokio::spawn(merge(
        [&first, &second].map(|app: &Arc<App>| app.progress()),
        merged,
    ));
    let working = [&first, &second].map(|app: &Arc<App>| {
        let app = Arc::clone(app);
        tokio::spawn(async move { app.work().await })
    });
    let _servers = [
        Server::start("hyper", first, one, None),
        Server::start("hyper", second, two, None),
    ];
    let counts = balance(public, ports);
    let desk = Arc::new(Toured {
        clock,
        letters,
        progress,
    });
    let passed = ::tour::walk(&base_url, desk, &Outputs::default()).await.unwrap();
    working.iter().for_each(|task| task.abort());
    merging.abort();
    assert!(passed);
    let counts = counts.each_ref().map(|count| count.load(Ordering::SeqCst));
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}
