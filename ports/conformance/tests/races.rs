//! Races on the runtimes that hosts have, and the macro of a kit.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_ports_conformance::{RACERS, race};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A store that needs a tokio runtime: each call connects, waits and spawns.
struct Remote {
    address: std::net::SocketAddr,
    served: Arc<AtomicUsize>,
}

impl Remote {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&served);
        tokio::spawn(async move {
            for _ in 0..RACERS {
                let (mut stream, _) = listener.accept().await.unwrap();
                let number = count.fetch_add(1, Ordering::SeqCst);
                stream.write_u32(number.try_into().unwrap()).await.unwrap();
            }
        });
        Self { address, served }
    }

    async fn next(&self) -> u32 {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // proves that the timer of the runtime works within a race
        tokio::time::sleep(Duration::from_millis(1)).await;
        let read = tokio::spawn(async move { stream.read_u32().await.unwrap() });
        read.await.unwrap()
    }
}

async fn race_remote_store() {
    let store = Arc::new(Remote::new().await);
    let mut numbers = race(&store, async |store, _| store.next().await).await;
    numbers.sort_unstable();
    assert_eq!(numbers, (0..32).collect::<Vec<_>>());
    assert_eq!(store.served.load(Ordering::SeqCst), RACERS);
}

#[tokio::test]
async fn store_of_current_thread_runtime_races() {
    race_remote_store().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn store_of_multi_thread_runtime_races() {
    race_remote_store().await;
}

/// The store gets and sets under separate locks; a race interleaves its threads between the two.
#[tokio::test]
async fn store_that_locks_twice_is_caught() {
    let store = Arc::new(Mutex::new(0));
    let is_caught = async || {
        let numbers = race(&store, async |store, _| {
            let seen = *store.lock().unwrap();
            std::thread::yield_now();
            *store.lock().unwrap() = seen + 1;
            seen
        })
        .await;
        let mut distinct = numbers;
        distinct.sort_unstable();
        distinct.dedup();
        distinct.len() < RACERS
    };
    for _ in 0..1_000 {
        if is_caught().await {
            return;
        }
    }
    panic!("a thousand races found no interleaving");
}

#[test]
fn panic_of_a_racer_reaches_the_caller() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let racing =
        AssertUnwindSafe(|| runtime.block_on(race(&Arc::new(()), async |_, number| assert_ne!(number, 7))));
    assert!(std::panic::catch_unwind(racing).is_err());
}

/// Without tokio, the calling thread polls the race by hand.
#[test]
fn race_runs_without_a_runtime() {
    let store = Arc::new(AtomicUsize::new(0));
    let racing = race(&store, async |store, _| store.fetch_add(1, Ordering::SeqCst));
    let mut racing = std::pin::pin!(racing);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for _ in 0..1_000_000 {
        if let std::task::Poll::Ready(numbers) = racing.as_mut().poll(&mut context) {
            assert_eq!(numbers.len(), RACERS);
            return;
        }
        std::thread::yield_now();
    }
    panic!("the race did not end");
}
