//! Two dispatcher processes on one outbox, one killed every few seconds, and a counting receiver.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::process::{self, Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use host_store_postgres::{Database, outbox};
use host_transport_hyper::HyperTransport;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::Full;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use webhook_core::address::AddressPolicy;
use webhook_core::memory::MemoryInbox;
use webhook_core::ports::{Clock, Entropy, OsEntropy, SystemClock, timer_fn};
use webhook_core::receiver::{Inbox, ReceiveOutcome, Receiver, Verifier};
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{Dispatcher, Endpoint, EndpointStore, Enqueued, Handled, Inserted, Owner};
use webhook_core::signature::Signer;

use crate::server::schema;
use crate::support::{LEASE, START, count, event};

const EVENTS: usize = 20_000;
const ENDPOINTS: usize = 20;
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Time without progress after which the remaining events count as lost. Progress, not a deadline,
/// so that a busy machine is slow but not wrong.
const PATIENCE: Duration = Duration::from_secs(60);

/// Limit of crashes of a delivery. With the default of five, one of 20,000 innocent deliveries
/// would sometimes be quarantined, since the processes are killed so often.
const BLAMELESS: u32 = 50;

/// Tells a second process of the test binary the schema to deliver from, and the start of the
/// clock.
const DISPATCHER: &str = "STORE_POSTGRES_DISPATCHER";
const CLOCK: &str = "STORE_POSTGRES_CLOCK";

/// W15, W7: of 20,000 events none is lost when one of two dispatchers is killed every few seconds,
/// and each duplicate is recognised.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_dispatchers_lose_no_event() {
    let schema = schema!();
    let database = schema.database().await;
    let clock = FastClock::start();
    let receiver = CountingReceiver::start(clock);
    register(&database, receiver.port).await;

    // processes are killed here, not the server, so commits need not wait for the disk
    let url = format!("{}&options[synchronous_commit]=off", schema.url());
    let (mut kills, signs) = (0, Arc::new(Notify::new()));
    let delivered = tokio::select! {
        ((), delivered) = async { tokio::join!(enqueue_all(&database), are_all_over(&database, &signs)) } => delivered,
        () = keep_killing(&url, clock, &signs, &mut kills) => false,
    };

    let of = async |rows: &str| usize::try_from(count(&database, rows).await).unwrap();
    assert!(delivered, "{} still wait", of("webhook_ready").await);
    assert_eq!(of("webhook_finished WHERE state = 'acked'").await, EVENTS);
    assert_eq!(of("webhook_delivery").await, EVENTS);
    let leases = of("webhook_delivery, generate_series(1, fence)").await;

    let got = receiver.stop().await;
    let accepted: usize = got.accepted.values().sum();
    let duplicates = accepted - got.accepted.len();
    assert_eq!(got.accepted.len(), EVENTS, "different ids on the wire");
    assert_eq!(got.queued, got.accepted.keys().cloned().collect::<Vec<_>>());
    assert_eq!((got.enqueued, got.duplicates), (EVENTS, duplicates));
    assert_eq!(got.refused, []);
    assert!(accepted <= leases, "{accepted} requests of {leases} leases");
    assert!(kills >= 5, "only {kills} were killed");
    assert!(
        duplicates > 0,
        "no process died between an answer and its settlement"
    );
    println!("{kills} kills, {leases} leases, {duplicates} duplicates, all of them recognised");
}

async fn register(database: &Database, port: u16) {
    let signer = Signer::standard_webhooks(&SigningSecret::from_whsec(SECRET).unwrap());
    for number in 0..ENDPOINTS {
        let url = format!("http://127.0.0.1:{port}/{number}").parse().unwrap();
        let id = endpoint(number).parse().unwrap();
        let endpoint = Endpoint::register(
            id,
            Owner::Tenant("acme".parse().unwrap()),
            &url,
            signer.clone(),
            &loopback(),
        )
        .unwrap();
        assert_eq!(database.insert(endpoint).await.unwrap(), Inserted::Inserted);
    }
}

fn endpoint(number: usize) -> String {
    format!("ep_{number}")
}

fn loopback() -> AddressPolicy {
    AddressPolicy::new().danger_allow_loopback()
}

/// A transaction for the events of each endpoint, while the first of them are delivered.
async fn enqueue_all(database: &Database) {
    for number in 0..ENDPOINTS {
        let endpoint = endpoint(number);
        let mut transaction = database.pool().begin().await.unwrap();
        for number in (number..EVENTS).step_by(ENDPOINTS) {
            let event = event(number, &[&endpoint]);
            let enqueued = outbox::enqueue_in(&mut transaction, &event).await.unwrap();
            assert_eq!(enqueued, Enqueued::Enqueued);
        }
        transaction.commit().await.unwrap();
    }
}

/// Counts at each sign of progress. Returns `false` if nothing more is delivered.
async fn are_all_over(database: &Database, signs: &Notify) -> bool {
    let (mut over, mut since) = (0, Instant::now());
    while since.elapsed() < PATIENCE {
        let now_over = count(database, "webhook_finished").await;
        if now_over == i64::try_from(EVENTS).unwrap() {
            return true;
        }
        if now_over > over {
            (over, since) = (now_over, Instant::now());
        }
        let _silence = timeout(PATIENCE, signs.notified()).await;
    }
    false
}

/// Never ends; dropping it kills both. A start counts as progress: the last line of a killed
/// process may be lost.
async fn keep_killing(url: &str, clock: FastClock, signs: &Arc<Notify>, kills: &mut usize) {
    let start = || Process::start(url, clock, Arc::clone(signs));
    let (mut first, mut second) = (start(), start());
    loop {
        // 0.7 to 1.7 seconds: the moment of the kill is varied, not an event, and a fast machine
        // delivers everything within seconds
        let [pause, choice] = random();
        sleep(Duration::from_millis(700 + 4 * u64::from(pause))).await;
        let victim = if choice % 2 == 0 { &mut first } else { &mut second };
        victim.kill();
        *kills += 1;
        *victim = start();
        signs.notify_one();
    }
}

fn random() -> [u8; 2] {
    let mut bytes = [0; 2];
    OsEntropy.fill(&mut bytes);
    bytes
}

/// A clock shared by all processes, five times as fast: the work of a killed one is free after 2 to
/// 3 s, if its observer lives that long.
#[derive(Clone, Copy)]
struct FastClock {
    started: SystemTime,
}

impl FastClock {
    const SPEED: u32 = 5;

    fn start() -> Self {
        Self {
            started: SystemTime::now(),
        }
    }

    fn from_text(text: &str) -> Self {
        let started = Duration::from_nanos(text.parse().unwrap());
        Self {
            started: SystemTime::UNIX_EPOCH + started,
        }
    }

    fn as_text(self) -> String {
        let started = self.started.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        started.as_nanos().to_string()
    }

    async fn reach(self, time: SystemTime) {
        let left = time.duration_since(self.now()).unwrap_or_default();
        sleep(left / Self::SPEED).await;
    }
}

impl Clock for FastClock {
    fn now(&self) -> SystemTime {
        START + self.started.elapsed().unwrap_or_default() * Self::SPEED
    }

    fn monotonic(&self) -> Duration {
        SystemClock.monotonic() * Self::SPEED
    }
}

/// A process that delivers until it is killed or its parent has ended.
struct Process(Child);

impl Process {
    /// Reports each line of the process, which it writes after each wait.
    fn start(url: &str, clock: FastClock, signs: Arc<Notify>) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "chaos::dispatcher", "--nocapture"])
            .env(DISPATCHER, url)
            .env(CLOCK, clock.as_text())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || output.lines().for_each(|_| signs.notify_one()));
        Self(child)
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        let status = self.0.wait().unwrap();
        assert_eq!(status.code(), None, "it ended by itself");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The process of the test above. Without its variable it does nothing.
#[tokio::test]
async fn dispatcher() {
    let Ok(url) = env::var(DISPATCHER) else { return };
    let clock = FastClock::from_text(&env::var(CLOCK).unwrap());
    thread::spawn(|| {
        io::stdin().read_to_end(&mut Vec::new()).ok();
        process::exit(0);
    });
    let database = Arc::new(Database::connect(&url).await.unwrap());
    let transport = HyperTransport::new(loopback());
    let dispatcher = Dispatcher::new(
        database.clone(),
        database,
        transport,
        clock,
        timer_fn(|time| sleep(time / FastClock::SPEED)),
        OsEntropy,
    )
    .with_address_policy(loopback())
    .with_quarantine_after(BLAMELESS);
    let wait = |next_due: Option<SystemTime>| async move {
        // this process gets no notification of new events
        let look_again = clock.now() + Duration::from_secs(1);
        clock
            .reach(next_due.map_or(look_again, |due_at| due_at.min(look_again)))
            .await;
        // not before the wait, which starts again whenever an exchange ends
        println!("nothing was under way");
        ControlFlow::Continue(())
    };
    let told = |told: Result<Handled, _>| {
        if let Err(error) = told {
            eprintln!("{error}");
        }
    };
    dispatcher.run(wait, told).await;
}

/// A receiver behind a real server, with its counts.
struct CountingReceiver {
    port: u16,
    inbox: Arc<MemoryInbox>,
    got: Arc<Mutex<Got>>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<io::Result<()>>,
}

#[derive(Default)]
struct Got {
    /// Number of acknowledgements of each id.
    accepted: BTreeMap<String, usize>,
    enqueued: usize,
    duplicates: usize,
    refused: Vec<ReceiveOutcome>,
    /// The ids in the inbox, in order.
    queued: Vec<String>,
}

impl CountingReceiver {
    fn start(clock: FastClock) -> Self {
        let (inbox, got) = (
            Arc::new(MemoryInbox::default()),
            Arc::new(Mutex::new(Got::default())),
        );
        let verifier = Verifier::standard_webhooks(SigningSecret::from_whsec(SECRET).unwrap());
        let receiver = Receiver::builder("sender", verifier, inbox.clone(), clock)
            .build()
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let counted = Arc::clone(&got);
        let handler = move |request: Request<Bytes>| {
            let (receiver, got) = (receiver.clone(), Arc::clone(&counted));
            async move {
                let id = id(request.headers());
                let response = receiver.receive(request).await;
                got.lock().unwrap().count(id, &response);
                response.map(Full::new)
            }
        };
        let refuse = |_: &Request<()>, status: StatusCode| {
            let mut response = Response::default();
            *response.status_mut() = status;
            response
        };
        let (stop, stopped) = oneshot::channel();
        let shutdown = async { stopped.await.unwrap_or(()) };
        let server = host_adapter_hyper::serve(listener, handler, refuse, Default::default(), shutdown);
        let server = tokio::spawn(server);
        Self {
            port,
            inbox,
            got,
            stop,
            server,
        }
    }

    /// Returns the counts after the last request is answered.
    async fn stop(self) -> Got {
        self.stop.send(()).unwrap();
        self.server.await.unwrap().unwrap();
        let mut got = std::mem::take(&mut *self.got.lock().unwrap());
        let queued = self.inbox.take(2 * EVENTS, START, LEASE).await.unwrap();
        got.queued = queued
            .iter()
            .map(|queued| queued.ticket.key.id.to_string())
            .collect();
        got.queued.sort_unstable();
        got
    }
}

fn id(headers: &HeaderMap) -> String {
    headers["webhook-id"].to_str().unwrap().to_owned()
}

impl Got {
    fn count(&mut self, id: String, response: &Response<Bytes>) {
        match response.extensions().get::<ReceiveOutcome>().copied().unwrap() {
            ReceiveOutcome::Enqueued => self.enqueued += 1,
            ReceiveOutcome::Duplicate => self.duplicates += 1,
            refused => return self.refused.push(refused),
        }
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        *self.accepted.entry(id).or_default() += 1;
    }
}
