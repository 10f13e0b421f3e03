//! GraphQL engine with its limits, persisted queries and batches.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;
use graph_core::connection::{CursorKey, Cursors};
use graph_core::engine::EngineBuilder;
use graph_core::http::{GraphRequest, HttpResponse};
use graph_core::limits::{Estimate, Limits};
use graph_core::persisted::{AutomaticPersistedQueries, Manifest, PersistedStore, TrustedDocuments};
use graph_core::ports::{Incident, OsEntropy};
use graph_core::response::GraphResponse;
use graph_core::subscription::sse::{EventStreams, StreamLimits};
use graph_core::{Engine, RequestContext};
use http::Request;
use juniper::RootNode;
use webhook_core::sender::TraceParent;

use super::loads::Customers;
use super::loss::Loss;
use super::schema::{Context, Host, Mutation, Query, Quota, Subscription};
use crate::app::open::{OpenError, at, secret_bytes};
use crate::app::streams::OpenStreams;
use crate::clock::DemoClock;
use crate::desk::Desk;

fn builder() -> EngineBuilder<Query, Mutation, Subscription> {
    Engine::builder(RootNode::new(Query, Mutation, Subscription)).with_incremental_delivery()
}

/// The GraphQL engine over one desk.
pub(in crate::app) struct Graph {
    engine: Engine<Query, Mutation, Subscription>,
    streams: EventStreams,
    limits: Limits,
    has_only_trusted: bool,
    desk: Desk,
    cursors: Cursors,
    /// Subscriptions of the explorer.
    explored: OpenStreams,
}

impl Graph {
    /// Builds the engine over `desk`, with persisted queries in `queries`. With `trusted`, it runs
    /// only those documents.
    pub(in crate::app) async fn open(
        desk: &Desk,
        clock: &DemoClock,
        queries: Arc<dyn PersistedStore>,
        trusted: Option<Manifest>,
    ) -> Result<Self, OpenError> {
        let secret = secret_bytes(desk, "graph-cursor-key").await?;
        let key = CursorKey::try_from(secret.as_slice()).map_err(at("the graph's cursors"))?;
        let limits = Limits::default();
        let mut builder = builder()
            .with_limits(limits)
            .without_explorer()
            .with_automatic_persisted_queries(AutomaticPersistedQueries::new(queries, clock.clone()))
            .with_batches()
            .with_cost_reports()
            .with_incident_log(|incident: &Incident| {
                let (request_id, detail) = (incident.correlation_id.as_str(), incident.detail.as_str());
                tracing::error!(request_id, detail, "a GraphQL operation failed");
            });
        let has_only_trusted = trusted.is_some();
        if let Some(manifest) = trusted {
            builder = builder.with_trusted_documents(TrustedDocuments::new([manifest]));
        }
        Ok(Self {
            engine: builder.build().map_err(at("the graph"))?,
            streams: EventStreams::new(StreamLimits::default(), OsEntropy, clock.clone()),
            limits,
            has_only_trusted,
            desk: desk.clone(),
            cursors: Cursors::new(key),
            explored: OpenStreams::default(),
        })
    }

    /// The schema in SDL.
    pub(in crate::app) fn sdl() -> Result<String, OpenError> {
        Ok(builder().build().map_err(at("the graph"))?.sdl())
    }

    /// Places for the explorer's subscriptions of a user.
    pub(super) fn quota(&self, subject: &str) -> Quota {
        Quota {
            streams: self.explored.clone(),
            subject: subject.to_owned(),
        }
    }

    /// Context shared by the resolvers of one request, at `trace`. Its subscriptions report to
    /// `loss`.
    pub(super) fn context(&self, loss: &Loss, quota: Option<Quota>, trace: Option<TraceParent>) -> Context {
        let host = Host {
            desk: self.desk.in_trace(trace),
            cursors: self.cursors.clone(),
            loss: loss.clone(),
            quota,
        };
        RequestContext::new(Arc::new(host)).with_selective_loader(Customers(self.desk.clone()))
    }

    /// Returns `true` if only trusted documents run.
    pub(super) const fn has_only_trusted(&self) -> bool {
        self.has_only_trusted
    }

    /// Limits of an operation.
    pub(in crate::app) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Size of an operation that does not run.
    pub(super) fn estimate(
        &self,
        request: &GraphRequest,
        context: &Context,
    ) -> Result<Estimate, GraphResponse> {
        self.engine.estimate(request, context)
    }

    pub(super) async fn respond(&self, request: Request<Bytes>, context: Context) -> HttpResponse {
        self.engine.respond(request, context).await
    }

    /// Responds at `/graphql/stream`, the single-connection mode of graphql-sse.
    pub(super) async fn respond_single(
        &self,
        request: Request<Bytes>,
        context: Context,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> HttpResponse {
        let streams = &self.streams;
        self.engine.respond_single(streams, request, context, end).await
    }

    pub(super) fn subscribe(
        &self,
        request: GraphRequest,
        context: Context,
    ) -> impl Stream<Item = GraphResponse> + Send + use<> {
        self.engine.subscribe(request, context)
    }
}
