//! Token sinks, which store rotated tokens durably.

use async_trait::async_trait;
use oauth_core::client::TokenSink;
use oauth_core::ports::StoreError;

use super::*;

/// A table with one row. A write waits for the gate, and fails if the test says so.
#[derive(Clone)]
struct Table {
    row: Arc<Mutex<Option<String>>>,
    faults: Arc<Mutex<VecDeque<bool>>>,
    writes: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
}

impl Table {
    fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self {
            row: Arc::default(),
            faults: Arc::default(),
            writes: Arc::default(),
            gate: Arc::new(Semaphore::new(permits)),
        })
    }

    /// Fails this often, by an error or a panic.
    fn fails(&self, panics: &[bool]) {
        self.faults.lock().unwrap().extend(panics);
    }

    fn row(&self) -> Option<String> {
        self.row.lock().unwrap().clone()
    }

    fn writes(&self) -> usize {
        self.writes.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl TokenSink for Table {
    async fn save(&self, tokens: &TokenResponse) -> Result<(), StoreError> {
        self.writes.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        let fault = self.faults.lock().unwrap().pop_front();
        match fault {
            Some(true) => unreachable!("a sink with a mistake"),
            Some(false) => return Err(StoreError::unavailable("connection reset")),
            None => {}
        }
        *self.row.lock().unwrap() = tokens.refresh_token().map(|token| token.expose().to_owned());
        Ok(())
    }
}

/// O9, 97: a rotated refresh token is stored before its access token is handed out.
#[tokio::test]
async fn tokens_are_stored_before_they_are_handed_out() {
    let (server, table) = (Rotating::open(), Table::new(0));
    let source = server.source().with_sink(table.clone());
    assert_eq!(token(&source).await, same("at-1"));
    assert_eq!(table.writes(), 0);
    server.clock.advance(LIFE);
    let mut waiting: Vec<_> = (0..8).map(|_| Box::pin(token(&source))).collect();
    // the server has responded, and the write is under way
    for _ in 0..3 {
        for caller in &mut waiting {
            assert!(caller.now_or_never().is_none());
        }
        tokio::task::yield_now().await;
    }
    assert_eq!((table.writes(), table.row()), (1, None));
    table.gate.add_permits(1);
    for caller in waiting {
        assert_eq!(caller.await, same("at-2"));
        assert_eq!(table.row().as_deref(), Some("rt-2"));
    }
    assert_eq!((table.writes(), server.asked().len()), (1, 1));
}

/// O9, 97: tokens that could not be stored are kept and not handed out; the next call stores them
/// without a request.
#[tokio::test]
async fn unstored_tokens_are_stored_at_next_call() {
    for panics in [false, true] {
        let (server, table) = (Rotating::open(), Table::new(100));
        let source = server.ended().with_sink(table.clone());
        table.fails(&[panics, panics]);
        assert_eq!(token(&source).await, fails("unsaved"));
        assert_eq!(renew(&source, "at-1").await, fails("unsaved"));
        assert_eq!(table.row(), None);
        // they can still be revoked
        assert_eq!(
            source.current().unwrap().refresh_token().unwrap().expose(),
            "rt-2"
        );
        assert_eq!(token(&source).await, same("at-2"));
        assert_eq!(table.row().as_deref(), Some("rt-2"));
        assert_eq!(token(&source).await, same("at-2"));
        assert_eq!((server.asked(), table.writes()), (vec!["rt-1".to_owned()], 3));
    }
}

/// O9, 97: tokens that expire before they are stored are stored first, and then refreshed.
#[tokio::test]
async fn tokens_that_expire_unstored_are_stored_and_refreshed() {
    let (server, table) = (Rotating::open(), Table::new(100));
    let source = server.ended().with_sink(table.clone());
    table.fails(&[false]);
    assert_eq!(token(&source).await, fails("unsaved"));
    server.clock.advance(LIFE);
    server.meets([Fault::Lost]);
    assert_eq!(token(&source).await, fails("lost"));
    assert_eq!(table.row().as_deref(), Some("rt-2"));
    assert_eq!(token(&source).await, same("at-3"));
    assert_eq!(table.row().as_deref(), Some("rt-3"));
    assert_eq!(server.asked(), ["rt-1", "rt-2", "rt-2"]);
    assert_eq!(table.writes(), 3);
}

/// O9, 97: a caller that is dropped during the write loses no tokens.
#[tokio::test]
async fn dropped_caller_leaves_tokens_to_be_stored() {
    let (server, table) = (Rotating::open(), Table::new(0));
    let source = server.ended().with_sink(table.clone());
    let mut first = Box::pin(token(&source));
    while table.writes() == 0 {
        assert!((&mut first).now_or_never().is_none());
    }
    drop(first);
    table.gate.add_permits(1);
    assert_eq!(token(&source).await, same("at-2"));
    assert_eq!(table.row().as_deref(), Some("rt-2"));
    assert_eq!((table.writes(), server.asked().len()), (1, 1));
}

/// O9, 97: all clones share one sink, whichever clone it was given to.
#[tokio::test]
async fn clones_have_one_sink() {
    let (server, table) = (Rotating::open(), Table::new(100));
    let plain = server.ended();
    let kept = plain.clone().with_sink(table.clone());
    assert_eq!(token(&plain).await, same("at-2"));
    assert_eq!(table.row().as_deref(), Some("rt-2"));
    server.clock.advance(LIFE);
    assert_eq!(token(&kept).await, same("at-3"));
    assert_eq!(table.row().as_deref(), Some("rt-3"));
}
