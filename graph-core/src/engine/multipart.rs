//! HTTP endpoint for clients that accept subscriptions as `multipart/mixed`.

use futures_util::stream::StreamExt as _;
use juniper::OperationType;

use super::root::{Root, SubscriptionRoot};
use super::{Access, Engine, WouldWrite};
use crate::guard::RequestContext;
use crate::http::{self as wire, GraphRequest, HttpResponse, Rendering};
use crate::subscription::StreamItem;

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Executes an operation. Renders a subscription as parts and any other result as `rendering`.
    pub(super) async fn respond_multipart(
        &self,
        request: GraphRequest,
        rendering: Rendering,
        access: Access,
        context: RequestContext<Q::Host>,
    ) -> HttpResponse {
        let profile = self.inner.http.profile;
        let prepared = self.prepared(&request, &context).await;
        let kind = prepared.as_ref().ok().map(|found| found.document.kind);
        if kind.is_some_and(|kind| access.refuses(kind)) {
            return HttpResponse::Full(WouldWrite::refusal(rendering).into_response(profile));
        }
        if rendering == Rendering::EventStream && kind != Some(OperationType::Subscription) {
            return HttpResponse::Stream(wire::events(self.stream(prepared, request, context)));
        }
        let mut items = self.items(prepared, request, context);
        // a subscription that does not start is an ordinary response with its status
        match items.next().await {
            Some(StreamItem::Response(only) | StreamItem::Failure(only)) => {
                HttpResponse::Full(wire::json(only, rendering, profile))
            }
            Some(StreamItem::Opened) | None => HttpResponse::Stream(wire::parts(items)),
        }
    }
}
