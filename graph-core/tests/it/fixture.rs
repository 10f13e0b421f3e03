//! Small shop schema of a host, and helpers to query it.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt as _};
use graph_core::connection::{CursorKey, Cursors, Direction, Page, PageArguments, PageLimits};
use graph_core::engine::EngineBuilder;
use graph_core::http::HttpResponse;
use graph_core::limits::Measured;
use graph_core::persisted::{Manifest, TrustedDocuments, TrustedMode, Untrusted};
use graph_core::ports::Incident;
use graph_core::{
    Engine, GraphError, GraphObject, Principal, RequestContext, graph_object, graph_subscription, graph_union,
};
use host_ports::testing::SeededEntropy;
use http::{Request, Response};
use juniper::{FieldResult, RootNode};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

pub(crate) use crate::wire::{accepting, codes, get, json, post, post_body};

pub(crate) type Context = RequestContext<Arc<Shop>>;
pub(crate) type ShopEngine = Engine<Query, Mutation, Subscription>;
pub(crate) type ShopBuilder = EngineBuilder<Query, Mutation, Subscription>;

/// Host's own value: the number of resolver calls, and the items.
pub(crate) struct Shop {
    pub(crate) calls: AtomicUsize,
    pub(crate) order: Mutex<Vec<i32>>,
    pub(crate) cursors: Cursors,
    /// Events of `live`, until the client subscribes.
    pub(crate) feed: Mutex<Option<UnboundedReceiver<i32>>>,
}

impl Shop {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            calls: AtomicUsize::new(0),
            order: Mutex::new(Vec::new()),
            feed: Mutex::new(None),
            cursors: Cursors::new(CursorKey::try_from([9; 32].as_slice()).unwrap()),
        })
    }

    fn called(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) id: i32,
}

#[graph_object(context = Context)]
impl Item {
    fn id(&self) -> i32 {
        self.id
    }

    fn name(&self) -> String {
        format!("item {}", self.id)
    }

    /// a list without arguments
    fn parts(&self, context: &Context) -> Vec<Self> {
        context.host().called();
        vec![Self { id: self.id * 10 }, Self { id: self.id * 10 + 1 }]
    }

    fn parent(&self) -> Option<Box<Self>> {
        None
    }

    /// a secret of the shop
    fn margin(&self, context: &Context) -> Result<Option<i32>, GraphError> {
        context.require_role("owner")?;
        context.host().called();
        Ok(Some(self.id))
    }

    fn weight(&self) -> FieldResult<i32> {
        Err("the scale at 10.0.0.7 does not answer".into())
    }
}

graph_core::connection! {
    pub(crate) ItemConnection,
    pub(crate) ItemEdge,
    Item,
    Context
}

#[derive(GraphObject)]
#[graphql(context = Context)]
pub(crate) struct Shelf {
    items: Vec<Item>,
}

#[graph_union(context = Context)]
enum Found {
    Item(Item),
    Shelf(Shelf),
}

pub(crate) struct Query;

#[graph_object(context = Context)]
impl Query {
    fn ping(context: &Context) -> &str {
        context.host().called();
        "pong"
    }

    async fn item(context: &Context, id: i32) -> Result<Option<Item>, GraphError> {
        context.host().called();
        match id {
            0 => Err(GraphError::not_found("no such item").with_extension("id", id)),
            7 => panic!("item 7 fell down"),
            8 => Err(std::io::Error::other("disk of shop-db-3 is full").into()),
            id => Ok(Some(Item { id })),
        }
    }

    /// a list whose size has a default in the schema
    fn items(context: &Context, #[graphql(default = 3)] first: i32) -> Vec<Item> {
        context.host().called();
        (1..=first).map(|id| Item { id }).collect()
    }

    /// a connection from a slice in memory
    fn stock(
        context: &Context,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Result<ItemConnection, GraphError> {
        context.host().called();
        let field = context.host().cursors.field("Query.stock");
        let request = field.request(
            PageLimits::default(),
            PageArguments {
                first,
                after,
                last,
                before,
            },
        )?;
        Ok(request.slice(stock(), |item| item.id.to_string())?.into())
    }

    /// a connection from rows that a store read
    fn rows(
        context: &Context,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Result<ItemConnection, GraphError> {
        let field = context.host().cursors.field("Query.rows");
        let request = field.request(
            PageLimits::new(5, 50),
            PageArguments {
                first,
                after,
                last,
                before,
            },
        )?;
        Ok(read_rows(&request).into())
    }

    /// lists in a list
    fn grid(context: &Context) -> Vec<Vec<Item>> {
        context.host().called();
        vec![vec![Item { id: 1 }], vec![Item { id: 2 }, Item { id: 3 }]]
    }

    /// entries of several types
    fn search(context: &Context, first: Option<i32>) -> Vec<Found> {
        context.host().called();
        let shelf = Shelf { items: stock() };
        let found = [Found::Item(Item { id: 1 }), Found::Shelf(shelf)].into_iter();
        found
            .take(first.unwrap_or(2).try_into().unwrap_or_default())
            .collect()
    }

    fn viewer(context: &Context) -> Option<&str> {
        context.principal().map(Principal::subject)
    }

    fn broken() -> FieldResult<i32> {
        Err("required and broken".into())
    }

    fn conflicting() -> FieldResult<Option<i32>> {
        let refused: Result<Option<i32>, GraphError> = Err(GraphError::conflict("already shipped"));
        Ok(refused?)
    }
}

pub(crate) fn stock() -> Vec<Item> {
    (1..=30).map(|id| Item { id }).collect()
}

/// Rows of a store: from the cursor on, in the direction, one more than the page size.
pub(crate) fn read_rows(request: &graph_core::connection::PageRequest) -> Page<Item> {
    let position = |cursor: Option<&str>| cursor.map(|cursor| cursor.parse::<i32>().unwrap());
    let (after, before) = (position(request.after()), position(request.before()));
    let inside = stock()
        .into_iter()
        .filter(|item| after.is_none_or(|after| item.id > after));
    let mut rows: Vec<_> = inside
        .filter(|item| before.is_none_or(|before| item.id < before))
        .collect();
    if request.direction() == Direction::Backward {
        rows.reverse();
    }
    rows.truncate(request.fetch_limit());
    request.rows(rows, |item| item.id.to_string())
}

pub(crate) struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    async fn add(context: &Context, id: i32) -> Item {
        context.host().called();
        // a later field that does not wait would finish first
        for _ in 0..(10 - id.clamp(0, 10)) {
            tokio::task::yield_now().await;
        }
        context.host().order.lock().unwrap().push(id);
        Item { id }
    }

    fn refund(context: &Context, id: i32) -> Result<Option<Item>, GraphError> {
        context.require_scope("write:refunds")?;
        context.host().called();
        Ok(Some(Item { id }))
    }
}

type Items = Pin<Box<dyn Stream<Item = Result<Item, GraphError>> + Send>>;

pub(crate) struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn added(context: &Context, #[graphql(default = 3)] count: i32) -> Result<Items, GraphError> {
        context.require_principal()?;
        context.host().called();
        Ok(stream::iter((1..=count).map(|id| Ok(Item { id }))).boxed())
    }

    /// what the shop's feed sends, when it sends it
    async fn live(context: &Context) -> Items {
        let feed = context.host().feed.lock().unwrap().take().unwrap();
        let received = stream::unfold(feed, async |mut feed| {
            Some((
                Ok(Item {
                    id: feed.recv().await?,
                }),
                feed,
            ))
        });
        received.boxed()
    }

    async fn echo(text: String) -> Pin<Box<dyn Stream<Item = Result<String, GraphError>> + Send>> {
        stream::iter([Ok(text)]).boxed()
    }

    async fn failing() -> Items {
        let secret = std::io::Error::other("broker at 10.0.0.9 is away");
        stream::iter([Ok(Item { id: 1 }), Err(secret.into()), Ok(Item { id: 3 })]).boxed()
    }

    async fn exploding() -> Items {
        stream::iter(1..)
            .map(|id| {
                if id == 2 {
                    panic!("second event")
                } else {
                    Ok(Item { id })
                }
            })
            .boxed()
    }
}

/// Engine with its shop and log.
pub(crate) struct Fixture {
    pub(crate) engine: ShopEngine,
    pub(crate) shop: Arc<Shop>,
    pub(crate) incidents: Arc<Mutex<Vec<Incident>>>,
}

pub(crate) fn builder() -> ShopBuilder {
    Engine::builder(RootNode::new(Query, Mutation, Subscription))
}

pub(crate) fn fixture() -> Fixture {
    Fixture::new(builder())
}

/// Panic of a log.
pub(crate) fn full_log() {
    panic!("the log is full");
}

/// Logs that panic before execution: the limit log and the allow-list log.
pub(crate) fn with_panicking_logs() -> [ShopBuilder; 2] {
    let trusted = TrustedDocuments::new([Manifest::new()])
        .with_mode(TrustedMode::Log)
        .with_log(|_: &Untrusted<'_>| full_log());
    [
        builder().with_limit_log(|_: &Measured<'_>| full_log()),
        builder().with_trusted_documents(trusted),
    ]
}

impl Fixture {
    pub(crate) fn new(builder: ShopBuilder) -> Self {
        let incidents = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&incidents);
        let engine = builder
            .with_entropy(SeededEntropy::new(1))
            .with_incident_log(move |incident: &Incident| log.lock().unwrap().push(incident.clone()))
            .build()
            .unwrap();
        Self {
            engine,
            shop: Shop::new(),
            incidents,
        }
    }

    pub(crate) fn anonymous(&self) -> Context {
        RequestContext::new(Arc::clone(&self.shop))
    }

    pub(crate) fn ada(&self) -> Context {
        self.anonymous()
            .with_principal(Principal::new("ada").with_scopes("read:items".parse().unwrap()))
    }

    /// Sends `request` anonymously and collects the complete response.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.send_in(request, self.anonymous()).await
    }

    pub(crate) async fn send_in(&self, request: Request<Bytes>, context: Context) -> Response<Bytes> {
        match self.engine.respond(request, context).await {
            HttpResponse::Full(response) => response,
            HttpResponse::Stream(response) => {
                let (parts, events) = response.into_parts();
                let events: Vec<Bytes> = events.collect().await;
                Response::from_parts(parts, events.concat().into())
            }
        }
    }

    /// Response to `query`, posted as JSON.
    pub(crate) async fn ask(&self, query: &str) -> Value {
        self.ask_with(query, Value::Null).await
    }

    pub(crate) async fn ask_with(&self, query: &str, variables: Value) -> Value {
        let response = self.send(post(query, variables)).await;
        assert_eq!(response.status(), 200);
        json(&response)
    }

    pub(crate) async fn ask_in(&self, query: &str, context: Context) -> Value {
        json(&self.send_in(post(query, Value::Null), context).await)
    }
}
