//! The tour's webhook receiver: webhook-core's receiver on its own port, with faults on demand.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use host_adapter_hyper::Limits;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use http_conventions::errors::Problem;
use tokio::sync::Notify;
use tokio::time::timeout;
use webhook_core::event::Envelope;
use webhook_core::memory::MemoryInbox;
use webhook_core::receiver::{Inbox, ReceiveOutcome, Receiver, Verifier};
use webhook_core::secret::SigningSecret;
use webhook_core::signature::WEBHOOK_ID;

use super::RunningDesk;
use super::report::{Mismatch, mismatch};

/// Time limit for the desk to deliver an event.
const PATIENCE: Duration = Duration::from_secs(5);

/// Behaviour of the receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// Processes the request and sends its response.
    Accept,
    /// Processes the request and responds 500, as if the 2xx was lost on its way.
    LoseAcknowledgement,
    /// Responds 500 without processing the request.
    Fail,
}

pub(super) struct TourReceiver {
    receiver: Receiver,
    inbox: Arc<MemoryInbox>,
    desk: Arc<dyn RunningDesk>,
    /// Wakes the tour when the receiver has handled a request.
    handled: Notify,
    seen: Mutex<Seen>,
}

struct Seen {
    behaviour: Behaviour,
    last_outcome: Option<ReceiveOutcome>,
    failed_on: Option<String>,
}

/// Binds a free port; returns it with the URL to register.
pub(super) fn listen() -> Result<(TcpListener, String), Mismatch> {
    let open = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}/webhooks", listener.local_addr()?);
        Ok((listener, url))
    };
    open().map_err(|error: std::io::Error| mismatch("the receiver", "a port", error))
}

impl TourReceiver {
    /// Serves until the tour ends.
    pub(super) fn serve(
        listener: TcpListener,
        secret: &str,
        desk: &Arc<dyn RunningDesk>,
    ) -> Result<Arc<Self>, Mismatch> {
        let secret =
            SigningSecret::from_whsec(secret).map_err(|error| mismatch("the receiver", "a secret", error))?;
        let inbox = Arc::new(MemoryInbox::default());
        let receiver = Receiver::builder(
            "payments-desk",
            Verifier::standard_webhooks(secret),
            inbox.clone(),
            Arc::clone(desk),
        )
        .build()
        .map_err(|error| mismatch("the receiver", "its configuration", error))?;
        let seen = Mutex::new(Seen {
            behaviour: Behaviour::Accept,
            last_outcome: None,
            failed_on: None,
        });
        let this = Arc::new(Self {
            receiver,
            inbox,
            desk: Arc::clone(desk),
            handled: Notify::new(),
            seen,
        });
        let serving = Arc::clone(&this);
        tokio::spawn(async move {
            let handler = move |request| {
                let receiver = Arc::clone(&serving);
                async move {
                    let response = receiver.receive(request).await;
                    receiver.handled.notify_one();
                    response.map(Full::new)
                }
            };
            host_adapter_hyper::serve(
                listener,
                handler,
                |_: &Request<()>, status| Problem::of_status(status).into_response(),
                Limits::default(),
                std::future::pending(),
            )
            .await
        });
        Ok(this)
    }

    async fn receive(&self, request: Request<Bytes>) -> Response<Bytes> {
        let behaviour = self.seen().behaviour;
        if behaviour == Behaviour::Fail {
            let id = request.headers().get(WEBHOOK_ID).and_then(|id| id.to_str().ok());
            self.seen().failed_on = id.map(str::to_owned);
            return failure();
        }
        let response = self.receiver.receive(request).await;
        self.seen().last_outcome = response.extensions().get::<ReceiveOutcome>().cloned();
        if behaviour == Behaviour::LoseAcknowledgement {
            failure()
        } else {
            response
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn behave(&self, behaviour: Behaviour) {
        self.seen().behaviour = behaviour;
    }

    pub(super) fn last_outcome(&self) -> Option<ReceiveOutcome> {
        self.seen().last_outcome
    }

    /// Takes the next event from the queue, as a worker does. Only one caller at a time.
    pub(super) async fn queued(&self) -> Result<Envelope, Mismatch> {
        let queued = async {
            loop {
                let taken = self.inbox.take(2, self.desk.now(), Duration::from_secs(60)).await;
                let taken = taken.map_err(|error| mismatch("the queue", "an event", error))?;
                match taken.as_slice() {
                    [] => self.handled.notified().await,
                    [job] => {
                        let done = self.inbox.finish(&job.ticket).await;
                        done.map_err(|error| mismatch("the queue", "to finish", error))?;
                        return Envelope::parse(job.body.clone())
                            .map_err(|error| mismatch("the queue", "an envelope", error));
                    }
                    more => return Err(mismatch("the queue", "one event", more.len())),
                }
            }
        };
        let in_time = timeout(PATIENCE, queued).await;
        in_time.unwrap_or_else(|_| Err(mismatch("the queue", "an event", "no event in time")))
    }

    /// Id of the next event that the receiver failed on.
    pub(super) async fn failed_on(&self) -> Result<String, Mismatch> {
        let failed = async {
            loop {
                if let Some(id) = self.seen().failed_on.take() {
                    return id;
                }
                self.handled.notified().await;
            }
        };
        let in_time = timeout(PATIENCE, failed).await;
        in_time.map_err(|_| mismatch("the receiver", "a delivery", "no delivery in time"))
    }
}

fn failure() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}
