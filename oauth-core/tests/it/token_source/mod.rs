//! Token sources: access tokens that are refreshed once for all callers.

mod api;
mod callers;
mod deadline;
mod faults;
mod sink;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt;
use host_ports::testing::ManualClock;
use http::{Request, Response};
use oauth_core::client::{
    AuthorizationParams, CallError, Client, Ports, Provider, RefreshError, TokenError, TokenResponse,
    TokenSource,
};
use oauth_core::params::Params;
use oauth_core::ports::{Clock, OsEntropy, TransportError, transport_fn};
use tokio::sync::Semaphore;

const TICK: Duration = Duration::from_nanos(1);
const SECOND: Duration = Duration::from_secs(1);
/// The lifetime of an access token.
const LIFE: Duration = Duration::from_secs(600);

/// Faults of a request, in place of the normal response.
#[derive(Clone, Copy)]
enum Fault {
    /// The request is lost.
    Lost,
    Panic,
    Status(u16, &'static str),
    /// The response has these members beside the access token.
    Tokens(&'static str),
}

/// A server that issues `at-n` and `rt-n`, and accepts the newest refresh token only.
#[derive(Clone)]
struct Rotating {
    clock: ManualClock,
    newest: Arc<AtomicUsize>,
    /// The refresh tokens of all requests.
    asked: Arc<Mutex<Vec<String>>>,
    faults: Arc<Mutex<VecDeque<Fault>>>,
    gate: Arc<Semaphore>,
}

impl Rotating {
    /// Responds at once.
    fn open() -> Self {
        Self::with(10_000)
    }

    /// Responds when the gate is opened; the response is fixed when the request arrives.
    fn closed() -> Self {
        Self::with(0)
    }

    fn with(permits: usize) -> Self {
        Self {
            clock: ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)),
            newest: Arc::new(AtomicUsize::new(1)),
            asked: Arc::default(),
            faults: Arc::default(),
            gate: Arc::new(Semaphore::new(permits)),
        }
    }

    fn meets(&self, faults: impl IntoIterator<Item = Fault>) {
        self.faults.lock().unwrap().extend(faults);
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn decide(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        assert_eq!(request.uri(), "https://as.example/token");
        let params = Params::parse(request.body()).unwrap();
        let presented = params.optional("refresh_token").unwrap_or("none").to_owned();
        self.asked.lock().unwrap().push(presented.clone());
        let answer = |status: u16, body: String| {
            let response = Response::builder().status(status).body(body.into());
            Ok(response.unwrap())
        };
        let fault = self.faults.lock().unwrap().pop_front();
        match fault {
            Some(Fault::Lost) => return Err(TransportError::other("the cable is out")),
            Some(Fault::Panic) => unreachable!("a transport with a mistake"),
            Some(Fault::Status(status, body)) => return answer(status, body.to_owned()),
            Some(Fault::Tokens(_)) | None => {}
        }
        let newest = self.newest.fetch_add(1, Ordering::SeqCst);
        let next = newest + 1;
        if let Some(Fault::Tokens(members)) = fault {
            let body = format!(r#"{{"access_token":"at-{next}","token_type":"Bearer"{members}}}"#);
            return answer(200, body);
        }
        if presented != format!("rt-{newest}") {
            return answer(400, r#"{"error":"invalid_grant"}"#.to_owned());
        }
        answer(200, self.tokens(next))
    }

    fn tokens(&self, number: usize) -> String {
        let life = LIFE.as_secs();
        format!(
            r#"{{"access_token":"at-{number}","token_type":"Bearer","expires_in":{life},"refresh_token":"rt-{number}"}}"#
        )
    }

    fn ports(&self) -> Ports {
        let server = self.clone();
        let transport = transport_fn(move |request: Request<Bytes>| {
            let server = server.clone();
            async move {
                let decided = server.decide(&request);
                tokio::task::yield_now().await;
                server.gate.acquire().await.unwrap().forget();
                decided
            }
        });
        Ports::new(transport, OsEntropy, self.clock.clone())
    }

    /// The tokens of the first sign-in: `at-1` and `rt-1`, or with these members instead.
    fn signed_in(&self, body: &str) -> TokenResponse {
        let call = client().refresh(&"rt-0".parse().unwrap(), &"read:charges".parse().unwrap());
        let (_, pending) = call.start(&OsEntropy, self.clock.now()).unwrap();
        let response = Response::new(Bytes::copy_from_slice(body.as_bytes()));
        pending.finish(response, self.clock.now()).unwrap()
    }

    fn source(&self) -> TokenSource {
        TokenSource::new(self.signed_in(&self.tokens(1)), self.ports())
    }

    /// A token source with an expired access token.
    fn ended(&self) -> TokenSource {
        let source = self.source();
        self.clock.advance(LIFE);
        source
    }
}

fn client() -> Client {
    let provider = Provider::new(
        "https://as.example".parse().unwrap(),
        "https://as.example/authorize".parse().unwrap(),
        "https://as.example/token".parse().unwrap(),
    );
    Client::new(provider, "demo web".parse().unwrap())
}

/// The access token, or the reason for its absence.
fn told(renewed: Result<Arc<TokenResponse>, RefreshError>) -> Result<String, String> {
    let text = |tokens: Arc<TokenResponse>| tokens.access_token().expose().to_owned();
    renewed.map(text).map_err(|error| match error {
        RefreshError::Ended(answer) => format!("ended: {}", answer.code()),
        RefreshError::NoRefreshToken => "no refresh token".to_owned(),
        RefreshError::Unsaved(_) => "unsaved".to_owned(),
        RefreshError::Failed(cause) => match &*cause {
            CallError::Transport(_) => "lost".to_owned(),
            CallError::Response(TokenError::UnexpectedStatus(status)) => format!("status {status}"),
            CallError::Response(TokenError::Refused(answer)) => format!("refused: {}", answer.code()),
            other => format!("{other:?}"),
        },
        other => unreachable!("{other}"),
    })
}

async fn token(source: &TokenSource) -> Result<String, String> {
    told(source.token().await)
}

async fn renew(source: &TokenSource, refused: &str) -> Result<String, String> {
    told(source.renew(&refused.parse().unwrap()).await)
}

fn same(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn fails(text: &str) -> Result<String, String> {
    Err(text.to_owned())
}
