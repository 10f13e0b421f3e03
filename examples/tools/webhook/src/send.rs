//! `webhook send`: sends one or many signed events to a receiver.

use std::collections::BTreeMap;
use std::num::{NonZeroU64, NonZeroUsize};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use host_transport_hyper::HyperTransport;
use http::{Request, Response, header::CONTENT_TYPE};
use tokio::time::interval;
use webhook_core::{
    address::AddressPolicy,
    event::{Envelope, EventId, EventType, EventVersion},
    ports::{ExchangeLimits, OsEntropy, Transport, TransportError},
    signature::Signers,
};

use crate::{
    Failure,
    args::Args,
    caused, failed, interrupt, keys,
    show::{self, Progress},
    usage,
};

/// Limit of concurrent exchanges: each has an open socket and a body in memory.
const MOST_CONNECTIONS: usize = 1024;
const REDRAW: Duration = Duration::from_millis(100);

/// The common parts of all requests.
struct Job {
    url: String,
    signers: Signers,
    transport: HyperTransport,
    limits: ExchangeLimits,
    content: Content,
}

/// Content of the body.
enum Content {
    /// These bytes, unchanged.
    Raw(Bytes),
    /// An envelope of this type with this object.
    Object(EventType, Bytes),
}

/// Results of the exchanges so far.
#[derive(Default)]
struct Tally {
    done: usize,
    acknowledged: usize,
    others: BTreeMap<String, usize>,
}

pub(crate) async fn run(words: Vec<String>) -> Result<(), Failure> {
    let [scheme, secret, file] = keys::FLAGS;
    let valued = [
        scheme,
        secret,
        file,
        "--data",
        "--type",
        "--id",
        "--count",
        "--concurrency",
        "--timeout",
    ];
    let args = Args::parse(words, &valued, &[])?;
    let number = "a whole number from 1";
    let count = args.read("--count", number)?.map_or(1, NonZeroUsize::get);
    let concurrency = args.read("--concurrency", number)?.map_or(8, NonZeroUsize::get);
    if concurrency > MOST_CONNECTIONS {
        return Err(usage(format!("--concurrency is at most {MOST_CONNECTIONS}")));
    }
    let id: Option<EventId> = args.read("--id", "1 to 256 visible ASCII characters without a dot")?;
    if id.is_some() && count > 1 {
        return Err(usage("--id is for one event, and --count is above 1"));
    }
    let job = job(&args)?;
    if count == 1 {
        return one(&job, id).await;
    }
    many(&job, count, concurrency).await
}

fn job(args: &Args) -> Result<Job, Failure> {
    // the URL may lead to this machine, but not to other machines of its network
    let policy = AddressPolicy::new().danger_allow_loopback();
    let url = args.operand("the URL")?;
    let target = policy
        .vet(url)
        .map_err(|refused| usage(format!("`{}` is refused: {refused}", show::word(url))))?;
    let signers = keys::signers(args)?;
    let timeout = args
        .read("--timeout", "whole seconds from 1")?
        .map_or(10, NonZeroU64::get);
    let event_type: Option<EventType> = args.read("--type", "dotted lowercase words")?;
    let content = match (args.one("--data")?, event_type) {
        (Some(data), Some(event_type)) => Content::Object(event_type, data.to_owned().into()),
        (Some(data), None) => Content::Object("test.sent".parse().map_err(failed)?, data.to_owned().into()),
        (None, None) => Content::Raw(show::stdin()?),
        (None, Some(_)) => {
            return Err(usage(
                "--type requires --data; a body from stdin is sent unchanged",
            ));
        }
    };
    let limits = ExchangeLimits {
        timeout: Duration::from_secs(timeout),
        ..Default::default()
    };
    let job = Job {
        url: target.as_str().to_owned(),
        signers,
        transport: HyperTransport::new(policy),
        limits,
        content,
    };
    // reports a body that cannot be built before anything is sent
    job.request(&EventId::generate(&OsEntropy))?;
    Ok(job)
}

async fn one(job: &Job, id: Option<EventId>) -> Result<(), Failure> {
    let id = id.unwrap_or_else(|| EventId::generate(&OsEntropy));
    let begin = Instant::now();
    let answer = job.transport.send(job.request(&id)?).await.map_err(caused)?;
    let took = show::duration(begin.elapsed());
    let body = show::foreign(answer.body(), 400);
    let line = format!("{} in {took}: {id} {body}", answer.status());
    if answer.status().is_success() {
        show::line(line.trim_end());
        Ok(())
    } else {
        Err(failed(line.trim_end()))
    }
}

async fn many(job: &Job, count: usize, concurrency: usize) -> Result<(), Failure> {
    let begin = Instant::now();
    let (mut tally, progress, mut redraw) = (Tally::default(), Progress::new(), interval(REDRAW));
    // after Ctrl-C no exchange begins, and open exchanges finish
    let interrupted = tokio::spawn(interrupt::first());
    let exchanges = stream::iter(0..count).take_until(interrupted).map(|_| async {
        let request = job.request(&EventId::generate(&OsEntropy))?;
        Ok::<_, Failure>(job.transport.send(request).await)
    });
    let mut exchanges = std::pin::pin!(exchanges.buffer_unordered(concurrency));
    loop {
        tokio::select! {
            answer = exchanges.next() => match answer {
                Some(answer) => tally.add(&answer?),
                None => break,
            },
            _ = redraw.tick() => progress.show(&tally.summary(count, begin.elapsed())),
        }
    }
    progress.clear();
    let summary = tally.summary(count, begin.elapsed());
    if tally.acknowledged == count {
        show::line(&summary);
        Ok(())
    } else if tally.done < count {
        Err(failed(format!("interrupted: {summary}")))
    } else {
        Err(failed(summary))
    }
}

impl Job {
    /// Creates a new request, signed now.
    fn request(&self, id: &EventId) -> Result<Request<Bytes>, Failure> {
        let now = SystemTime::now();
        let body = match &self.content {
            Content::Raw(body) => body.clone(),
            Content::Object(event_type, object) => {
                let version: EventVersion = "1".parse().map_err(failed)?;
                let envelope = Envelope::new(id.clone(), event_type.clone(), version, now, object);
                envelope
                    .map_err(|error| usage(format!("--data is refused: {error}")))?
                    .into_bytes()
            }
        };
        let request = Request::post(&self.url)
            .header(CONTENT_TYPE, "application/json")
            .extension(self.limits);
        let mut request = request.body(body.clone()).map_err(failed)?;
        self.signers
            .sign(id, now, &body)
            .insert_into(request.headers_mut());
        Ok(request)
    }
}

impl Tally {
    fn add(&mut self, answer: &Result<Response<Bytes>, TransportError>) {
        self.done += 1;
        match answer {
            Ok(answer) if answer.status().is_success() => self.acknowledged += 1,
            Ok(answer) => *self.others.entry(answer.status().to_string()).or_default() += 1,
            Err(error) => *self.others.entry(show::chain(error)).or_default() += 1,
        }
    }

    fn summary(&self, of: usize, elapsed: Duration) -> String {
        let others = self
            .others
            .iter()
            .map(|(what, times)| format!(", {what} × {times}"));
        let others: String = others.collect();
        let milliseconds = elapsed.as_millis().max(1);
        let rate = self.done as u128 * 1000 / milliseconds;
        format!(
            "{}/{of} sent, {} acknowledged{others} in {}, {rate}/s",
            self.done,
            self.acknowledged,
            show::duration(elapsed)
        )
    }
}
