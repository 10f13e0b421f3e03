//! HTTP endpoint for clients that accept `multipart/mixed`.

use futures_util::stream::StreamExt as _;
use juniper::OperationType;

use super::prepare::Prepared;
use super::root::{Root, SubscriptionRoot};
use super::{Access, Engine, WouldWrite};
use crate::guard::RequestContext;
use crate::http::{self as wire, GraphRequest, HttpResponse, Multipart, Rendering};
use crate::subscription::StreamItem;

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Executes an operation. Renders a subscription or deferred fragments as parts, if the client
    /// accepts them, and any other result as `rendering`.
    pub(super) async fn respond_multipart(
        &self,
        request: GraphRequest,
        (rendering, multipart): (Rendering, Multipart),
        access: Access,
        context: RequestContext<Q::Host>,
    ) -> HttpResponse {
        let profile = self.inner.http.profile;
        let prepared = self.prepared(&request, &context).await;
        let kind = prepared.as_ref().ok().map(|found| found.document.kind);
        if kind.is_some_and(|kind| access.refuses(kind)) {
            prepared.into_iter().for_each(Prepared::refuse_write);
            return HttpResponse::Full(WouldWrite::refusal(rendering).into_response(profile));
        }
        let is_subscription = kind == Some(OperationType::Subscription);
        let prepared = match (prepared, multipart.deferred) {
            (Ok(found), Some(format)) if found.document.has_deferred_fragments() => {
                return self
                    .respond_deferred(found, request, (rendering, format), context)
                    .await;
            }
            (prepared, _) => prepared,
        };
        let accepts_parts = is_subscription && multipart.subscription;
        if rendering == Rendering::EventStream && !accepts_parts {
            return HttpResponse::Stream(wire::events(self.stream(prepared, request, context)));
        }
        if is_subscription && !accepts_parts {
            let refused = match prepared {
                Ok(found) => self.run_prepared(found, &request, &context).await,
                Err(refused) => refused,
            };
            return HttpResponse::Full(wire::json(refused, rendering, profile));
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
