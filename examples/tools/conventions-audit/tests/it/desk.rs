//! A small API that follows the rules, and breaks one on demand.

use std::{
    net::{Ipv4Addr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::SystemTime,
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, header};
use http_body_util::Full;
use http_conventions::{
    caching::{EntityTag, Preconditions, Validators},
    errors::{Challenge, ErrorStatus, Problem, ProblemBase},
    idempotency::{Idempotency, KeyScope, MemoryIdempotencyStore},
    paging::{CursorBinding, CursorKey, CursorKeyring, PageRules},
    pipeline::{Conventions, EarlyResponse},
    ports::{OsEntropy, SystemClock},
    routing::{Location, respond_created},
};
use tokio::sync::oneshot;

const BASE: &str = "https://api.example.com/problems/";
pub(crate) const TOKEN: (&str, &str) = ("authorization", "Bearer 7");
pub(crate) const OPENAPI: &str = r##"{"openapi":"3.1.0","paths":{
    "/v1/charges":{
        "get":{"parameters":[{"name":"limit","in":"query"}]},
        "post":{
            "parameters":[{"$ref":"#/components/parameters/Key"}],
            "requestBody":{"content":{"application/json":{"example":{"amount":1000}}}}}},
    "/v1/charges/{id}":{"get":{}},
    "/v1/searches":{"get":{"parameters":[{"name":"q","in":"query","required":true}]}}},
    "components":{"parameters":{"Key":{"name":"Idempotency-Key","in":"header"}}}}"##;

/// A change of a response before it is sent.
pub(crate) type Break = fn(&Request<Bytes>, &mut Response<Bytes>);

struct Desk {
    conventions: Conventions,
    cursors: CursorKeyring,
    made: AtomicU32,
    broken: Break,
}

/// Starts a server that runs until the sender is dropped; returns its URL.
pub(crate) fn serve(broken: Break) -> (String, oneshot::Sender<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let clock = Arc::new(SystemClock);
    let problems = ProblemBase::new(BASE).unwrap();
    let store = Arc::new(MemoryIdempotencyStore::default());
    let idempotency = Idempotency::new(store, clock.clone(), &OsEntropy, problems);
    let conventions = Conventions::builder(BASE, clock, Arc::new(OsEntropy))
        .with_idempotency(idempotency)
        .build()
        .unwrap();
    let desk = Arc::new(Desk {
        conventions,
        cursors: CursorKeyring::new(CursorKey::new(1, [7; 32])),
        made: AtomicU32::new(0),
        broken,
    });
    let handler = move |request: Request<Bytes>| {
        let desk = Arc::clone(&desk);
        async move { desk.answer(request).await.map(Full::new) }
    };
    let refuse = |_: &Request<()>, status| Problem::of_status(status).into_response();
    let (stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(async move {
        let shutdown = async { drop(stopped.await) };
        host_adapter_hyper::serve(
            listener,
            handler,
            refuse,
            host_adapter_hyper::Limits::default(),
            shutdown,
        )
        .await
    });
    (base, stop)
}

impl Desk {
    async fn answer(&self, request: Request<Bytes>) -> Response<Bytes> {
        if request.uri().path() == "/openapi.json" {
            return json(OPENAPI);
        }
        let answered = self.answered(&request).await;
        let mut answer = answered.unwrap_or_else(EarlyResponse::into_response);
        (self.broken)(&request, &mut answer);
        answer
    }

    async fn answered(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, EarlyResponse> {
        let exchange = self.conventions.begin(request).admit(request)?;
        let user = exchange.check(authenticate(request))?;
        let exchange = exchange.skip_rate_limit();
        let preconditions = exchange.preconditions(request);
        let handler = async { self.handle(request, preconditions) };
        Ok(exchange
            .run(request, KeyScope::new(user, "/v1/charges"), handler)
            .await)
    }

    fn handle(
        &self,
        request: &Request<Bytes>,
        preconditions: Preconditions<'_>,
    ) -> Result<Response<Bytes>, Problem> {
        let base = self.conventions.problems();
        let state = Validators::default().with_entity_tag(EntityTag::of_content(b"{}"));
        let is_one = match request.uri().path() {
            "/v1/charges" => false,
            path if path
                .strip_prefix("/v1/charges/")
                .is_some_and(|id| id.parse::<u32>().is_ok()) =>
            {
                true
            }
            _ => return Err(Problem::new(ErrorStatus::NOT_FOUND)),
        };
        match (request.method(), is_one) {
            (&Method::GET | &Method::HEAD, true) => preconditions.answer_read(&state, json("{}"), base),
            (&Method::GET | &Method::HEAD, false) => self.page(request.uri().query()),
            (&Method::PUT, true) => {
                preconditions.check_write(Some(&state), base)?;
                Ok(json("{}"))
            }
            (&Method::POST, false) => {
                let id = self.made.fetch_add(1, SeqCst) + 1;
                let location = Location::of_path(["v1", "charges", &id.to_string()])?;
                Ok(respond_created(&location, json(&format!("{{\"id\":{id}}}"))))
            }
            (_, true) => Err(Problem::method_not_allowed(&[
                Method::GET,
                Method::HEAD,
                Method::PUT,
            ])),
            (_, false) => Err(Problem::method_not_allowed(&[
                Method::GET,
                Method::HEAD,
                Method::POST,
            ])),
        }
    }

    /// Forty numbers, in pages of twenty.
    fn page(&self, query: Option<&str>) -> Result<Response<Bytes>, Problem> {
        let binding = CursorBinding::new("/v1/charges", "user-7");
        let asked = self
            .cursors
            .open_page::<i64>(PageRules::default(), query, binding, SystemTime::now())
            .map_err(|refused| refused.problem(self.conventions.problems()))?;
        let from = asked.after().copied().unwrap_or(0);
        let rows = (from + 1..=40).take(asked.limit().fetch()).collect();
        let page = asked.page(rows, |last| *last).unwrap();
        Ok(json(&serde_json::to_string(&page).unwrap()))
    }
}

fn authenticate(request: &Request<Bytes>) -> Result<&'static str, Problem> {
    let sent = request.headers().get(header::AUTHORIZATION);
    match sent.is_some_and(|sent| sent == TOKEN.1) {
        true => Ok("user-7"),
        false => Err(Problem::unauthorized(Challenge::bearer())),
    }
}

fn json(text: &str) -> Response<Bytes> {
    let mut answer = Response::new(Bytes::copy_from_slice(text.as_bytes()));
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}
