//! `webhook listen`: a receiver that prints a line for each message.

mod row;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use webhook_core::ports::SystemClock;

use bytes::Bytes;
use http::{Request, Response, StatusCode, request::Parts};
use http_body_util::Full;
use webhook_core::{
    event::Envelope,
    memory::MemoryInbox,
    receiver::{Inbox, ReceiveOutcome, Receiver, diagnosis::Diagnosis},
    signature::WEBHOOK_ID,
};

use crate::{
    Failure,
    args::Args,
    caused, failed, interrupt, keys,
    show::{self, Colour},
    verify,
};
use row::Row;

/// Limit of the printed part of a body.
const SHOWN: usize = 4000;
const LEASE: Duration = Duration::from_secs(60);

/// Settings for receiving and printing a message.
#[derive(Clone)]
struct Desk {
    receiver: Receiver,
    inbox: Arc<MemoryInbox>,
    diagnosis: Option<Arc<Diagnosis>>,
    with_body: bool,
}

pub(crate) async fn run(words: Vec<String>) -> Result<(), Failure> {
    let [scheme, secret, file] = keys::FLAGS;
    let [provider, url] = keys::PROVIDER;
    let valued = [scheme, secret, file, provider, url, "--listen", "--verify-token"];
    let args = Args::parse(words, &valued, &["--body", "--explain"])?.without_operands()?;
    let (mut verifier, diagnosis) = keys::verifier(&args)?;
    if let Some(token) = args.one("--verify-token")? {
        verifier = verifier.with_verify_token(token);
    }
    let listen: Option<SocketAddr> = args.read("--listen", "an address with a port, as 127.0.0.1:8090")?;
    let inbox = Arc::new(MemoryInbox::default());
    let receiver = Receiver::builder("listen", verifier, inbox.clone(), SystemClock);
    let desk = Desk {
        receiver: receiver.build().map_err(failed)?,
        inbox,
        diagnosis: (args.has("--explain") || args.has("--as")).then(|| Arc::new(diagnosis)),
        with_body: args.has("--body"),
    };
    let listener =
        TcpListener::bind(listen.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 8090)))).map_err(failed)?;
    show::line(&format!(
        "listening on http://{}",
        listener.local_addr().map_err(failed)?
    ));
    let handle = move |request| {
        let desk = desk.clone();
        async move { desk.receive(request).await.map(Full::new) }
    };
    let refuse = |_: &Request<()>, status: StatusCode| {
        Response::builder()
            .status(status)
            .body(Bytes::new())
            .unwrap_or_default()
    };
    let served = host_adapter_hyper::serve(listener, handle, refuse, Default::default(), interrupt::first());
    served.await.map_err(caused)
}

impl Desk {
    async fn receive(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (head, body) = request.into_parts();
        let response = self
            .receiver
            .receive(Request::from_parts(head.clone(), body.clone()));
        let response = response.await;
        // the event needs no worker: its job is finished here, and only the claim of its id is kept
        let mut id = None;
        for job in self
            .inbox
            .take(64, SystemTime::now(), LEASE)
            .await
            .unwrap_or_default()
        {
            self.inbox.finish(&job.ticket).await.ok();
            id = (job.body == body).then(|| job.ticket.key.id.to_string()).or(id);
        }
        self.show(&response, &head, id.as_deref(), &body);
        response
    }

    /// Prints the line of a request; `id` is the id of its event, if the event is new.
    fn show(&self, response: &Response<Bytes>, head: &Parts, id: Option<&str>, body: &Bytes) {
        let Some(outcome) = response.extensions().get::<ReceiveOutcome>() else {
            return;
        };
        let words = match outcome {
            ReceiveOutcome::Rejected(failure) => verify::words_of(*failure),
            _ => String::new(),
        };
        let (colour, verdict, why) = match outcome {
            ReceiveOutcome::Enqueued => (Colour::Green, "verified", ""),
            ReceiveOutcome::Duplicate => (Colour::Yellow, "duplicate", ""),
            ReceiveOutcome::Conflict => (Colour::Red, "conflict", "the id was used for another body"),
            ReceiveOutcome::Rejected(_) => (Colour::Red, "refused", words.as_str()),
            ReceiveOutcome::HandshakeAnswered => (Colour::Green, "handshake", ""),
            ReceiveOutcome::HandshakeRefused => (Colour::Red, "refused", "the handshake is not valid"),
            ReceiveOutcome::MethodNotAllowed => (Colour::Red, "refused", "not a POST"),
            ReceiveOutcome::TooLarge => (Colour::Red, "refused", "too large"),
            _ => (Colour::Red, "failed", ""),
        };
        let is_verified = matches!(
            outcome,
            ReceiveOutcome::Enqueued | ReceiveOutcome::Duplicate | ReceiveOutcome::Conflict
        );
        // an unverified body is not parsed
        let event = is_verified.then(|| Envelope::parse(body.clone()).ok()).flatten();
        let event_type = event.map_or_else(|| "-".to_owned(), |event| event.event_type().to_string());
        let now = SystemTime::now();
        let claimed = head
            .headers
            .get(WEBHOOK_ID)
            .map_or(b"-".as_slice(), |id| id.as_bytes());
        let row = Row {
            verdict,
            colour,
            status: response.status().as_u16(),
            event_type: event_type.as_bytes(),
            id: id.map(str::as_bytes).unwrap_or(claimed),
            size: body.len(),
            why,
        };
        let finding = match (outcome, &self.diagnosis) {
            (ReceiveOutcome::Rejected(_), Some(diagnosis)) => Some(diagnosis.finding(head, body, now)),
            _ => None,
        };
        let shown = if is_verified && self.with_body {
            format!("\n  {}", show::foreign(body, SHOWN))
        } else {
            verify::explained(finding)
        };
        show::line(&format!("{}{shown}", row.text(now, show::is_watched())));
    }
}
