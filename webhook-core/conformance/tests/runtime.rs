//! Test: a store whose methods need a tokio runtime, as with sqlx, passes a kit on both flavors of
//! it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, SystemTime};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use webhook_core::memory::MemoryInbox;
use webhook_core::ports::StoreError;
use webhook_core::receiver::{Buried, BuriedQuery, Claim, Dedupe, Finish, Inbox, Incoming, Queued, Ticket};

/// In-memory inbox behind an exchange with its own server.
struct RemoteInbox {
    inner: MemoryInbox,
    server: TcpListener,
}

impl RemoteInbox {
    async fn connect() -> Self {
        Self {
            inner: MemoryInbox::default(),
            server: TcpListener::bind("127.0.0.1:0").await.unwrap(),
        }
    }

    /// Uses the timer, a spawned task and a socket of the runtime.
    async fn exchange(&self) {
        // proves that the timer of the runtime works
        tokio::time::sleep(Duration::from_millis(1)).await;
        let address = self.server.local_addr().unwrap();
        let client = tokio::spawn(async move {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(b"?").await.unwrap();
            client.read_u8().await.unwrap()
        });
        let (mut connection, _) = self.server.accept().await.unwrap();
        assert_eq!(connection.read_u8().await.unwrap(), b'?');
        connection.write_all(b"!").await.unwrap();
        // the connection may belong to another call, so it stays open until this call is answered
        assert_eq!(client.await.unwrap(), b'!');
    }
}

#[async_trait::async_trait]
impl Dedupe for RemoteInbox {
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError> {
        self.exchange().await;
        self.inner.claim_and_enqueue(event, now).await
    }
}

#[async_trait::async_trait]
impl Inbox for RemoteInbox {
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError> {
        self.exchange().await;
        self.inner.take(limit, now, lease).await
    }

    async fn finish(&self, ticket: &Ticket) -> Result<Finish, StoreError> {
        self.exchange().await;
        self.inner.finish(ticket).await
    }

    async fn retry_at(&self, ticket: &Ticket, at: SystemTime) -> Result<Finish, StoreError> {
        self.exchange().await;
        self.inner.retry_at(ticket, at).await
    }

    async fn bury(&self, ticket: &Ticket, reason: &str, now: SystemTime) -> Result<Finish, StoreError> {
        self.exchange().await;
        self.inner.bury(ticket, reason, now).await
    }

    async fn buried(&self, query: &BuriedQuery) -> Result<Vec<Buried>, StoreError> {
        self.exchange().await;
        self.inner.buried(query).await
    }

    async fn replay_buried(&self, number: u64) -> Result<bool, StoreError> {
        self.exchange().await;
        self.inner.replay_buried(number).await
    }

    async fn discard_buried(&self, number: u64) -> Result<bool, StoreError> {
        self.exchange().await;
        self.inner.discard_buried(number).await
    }
}

mod current_thread {
    webhook_core_conformance::inbox_store!(
        #[tokio::test]
        async {
            super::RemoteInbox::connect().await
        }
    );
    webhook_core_conformance::inbox_failures!(
        #[tokio::test]
        async {
            super::RemoteInbox::connect().await
        }
    );
}

mod multi_thread {
    webhook_core_conformance::inbox_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async {
            super::RemoteInbox::connect().await
        }
    );
    webhook_core_conformance::inbox_failures!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async {
            super::RemoteInbox::connect().await
        }
    );
}
