//! `/console/live`: server-sent events that name what has changed, for pages that stay open.
//!
//! An event has only topic names. The page's script then fetches the page again, with its session
//! and filters. Without the script a page has a link to do so.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::header::{CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use http_conventions::caching::CacheControl;
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::limits::RetryAfter;
use http_conventions::pipeline::{Exchange, Limited};
use oauth_core::Sessions;
use oauth_core::session::Session;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::super::App;
use super::super::body::{Body, whole};
use super::super::browser::is_active;
use super::super::origin::is_own_page;
use super::super::streams::StreamPermit;
use crate::domain::Charge;

/// Interval of keep-alive comments, and of checks that the session is active.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// Time after a change in which further changes become part of its event.
const COALESCE_WINDOW: Duration = Duration::from_millis(500);

/// Sources of the events of one stream.
struct ChangeSources {
    charges: broadcast::Receiver<Charge>,
    work: watch::Receiver<()>,
    requests: watch::Receiver<()>,
    session: Session,
    sessions: Sessions,
    _permit: StreamPermit,
}

/// Topics of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Topics {
    charges: bool,
    deliveries: bool,
    requests: bool,
}

impl Topics {
    fn encode(self) -> Bytes {
        let topics = [
            (self.charges, "charges"),
            (self.deliveries, "deliveries"),
            (self.requests, "requests"),
        ];
        let topics: Vec<_> = topics
            .iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, name)| *name)
            .collect();
        match topics.is_empty() {
            true => Bytes::from_static(b":\n\n"),
            false => format!("event: changed\ndata: {}\n\n", topics.join(" ")).into(),
        }
    }
}

impl ChangeSources {
    /// Next event or comment; `None` once the session has ended or a channel is closed.
    async fn next(&mut self) -> Option<Bytes> {
        let mut topics = Topics::default();
        tokio::select! {
            charge = self.charges.recv() => match charge {
                // a charge and its event are one transaction
                Ok(_) | Err(RecvError::Lagged(_)) => {
                    topics.charges = true;
                    topics.deliveries = true;
                }
                Err(RecvError::Closed) => return None,
            },
            changed = self.work.changed() => {
                changed.ok()?;
                // booked refunds and settled deliveries
                topics.charges = true;
                topics.deliveries = true;
            }
            changed = self.requests.changed() => {
                changed.ok()?;
                topics.requests = true;
            }
            () = tokio::time::sleep(KEEP_ALIVE) => {}
        }
        if topics != Topics::default() {
            tokio::time::sleep(COALESCE_WINDOW).await;
            self.drain_changes(&mut topics);
        }
        let is_active = is_active(&self.sessions, &self.session).await;
        is_active.then(|| topics.encode())
    }

    /// Adds the topics of changes that arrived meanwhile.
    fn drain_changes(&mut self, topics: &mut Topics) {
        while !matches!(
            self.charges.try_recv(),
            Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed)
        ) {
            topics.charges = true;
            topics.deliveries = true;
        }
        if self.work.has_changed().unwrap_or(false) {
            self.work.mark_unchanged();
            topics.charges = true;
            topics.deliveries = true;
        }
        if self.requests.has_changed().unwrap_or(false) {
            self.requests.mark_unchanged();
            topics.requests = true;
        }
    }
}

impl App {
    /// Opens a stream of events for a page of the console. It ends with the session, and when the
    /// service drains.
    pub(in super::super) async fn open_live(
        &self,
        exchange: Exchange<Limited>,
        request: &Request<Bytes>,
    ) -> Response<Body> {
        let opened = self.build_stream(request).await;
        exchange.finish_as(opened, whole)
    }

    /// Response with the event stream.
    ///
    /// # Errors
    ///
    /// - 403 without a session, and for a page of another origin
    /// - 429 if the user has twelve open streams
    async fn build_stream(&self, request: &Request<Bytes>) -> Result<Response<Body>, Problem> {
        let forbidden = |detail: &'static str| Problem::new(ErrorStatus::FORBIDDEN).with_detail(detail);
        // another page cannot read the stream, but would use up the streams of the user
        if !is_own_page(request, &self.base_url) {
            return Err(forbidden("only pages of the console may open this stream"));
        }
        let visitor = self.visitor(request).await?;
        let visitor = visitor.ok_or_else(|| forbidden("the session has ended; sign in again"))?;
        let permit = self.console_state.streams.admit(&visitor.user.subject);
        let too_many = || Problem::too_many_requests(RetryAfter::new(KEEP_ALIVE));
        let changes = ChangeSources {
            charges: self.desk.charge_updates(),
            work: self.progress(),
            requests: self.console_state.traffic.added(),
            session: visitor.session,
            sessions: self.sessions.clone(),
            _permit: permit.ok_or_else(too_many)?,
        };
        let mut closing = self.closing.subscribe();
        let closed = async move {
            let _closed = closing.wait_for(|closing| *closing).await;
        };
        let events = stream::unfold(changes, async |mut changes| {
            let event = changes.next().await?;
            Some((event, changes))
        });
        // the first bytes tell the browser that the stream is open
        let begin = stream::once(async { Bytes::from_static(b"retry: 3000\n\n") });
        let frames = begin
            .chain(events)
            .take_until(closed)
            .map(|event| Ok(Frame::data(event)));
        let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        CacheControl::no_store().apply(headers);
        Ok(response)
    }
}
