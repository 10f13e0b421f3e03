//! The whole HTTP endpoint as one method.

use bytes::Bytes;
use http::Request;

use super::root::{Root, SubscriptionRoot};
use super::{Access, Engine, WouldWrite};
use crate::guard::RequestContext;
use crate::http::{self as wire, Exchange, HttpResponse, Refusal, Rendering};

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Answers an HTTP request for `/graphql`, whatever its method; see [`http`](crate::http) for what is served how.
    ///
    /// # Security
    ///
    /// The host authenticates the request and puts the principal into `context`; headers about credentials are not read here.
    ///
    /// Nor does a stream know when they end: the host drops an [`HttpResponse::Stream`] when the token that it was asked for with expires, or
    /// its events go on to whoever held that token. A client that wants more asks again with a fresh one.
    pub async fn respond(&self, request: Request<Bytes>, context: RequestContext<Q::Host>) -> HttpResponse {
        let profile = self.inner.http.profile;
        let (request, rendering, access) = match self.inner.http.read(&request) {
            Ok(Exchange::Explorer) => return HttpResponse::Full(wire::explorer_page()),
            Ok(Exchange::Operation {
                request,
                rendering,
                read_only,
            }) => (
                request,
                rendering,
                if read_only {
                    Access::ReadOnly
                } else {
                    Access::ReadWrite
                },
            ),
            Ok(Exchange::Batch { requests, rendering }) => {
                // rare, and every request would have room for it
                let answers = Box::pin(self.batch(requests, &context)).await;
                return HttpResponse::Full(wire::list(answers, rendering));
            }
            Err(refusal) => return HttpResponse::Full(refusal.into_response(profile)),
        };
        let attempted = match rendering {
            Rendering::EventStream => match self.prepared(&request, &context).await {
                Ok(found) if access.refuses(found.document.kind) => Err(WouldWrite),
                // what is judged here is what runs: a hash that is unknown now may be a mutation in a moment
                prepared => {
                    return HttpResponse::Stream(wire::events(self.stream(prepared, request, context)));
                }
            },
            Rendering::Json | Rendering::GraphqlResponse | Rendering::Explorer => {
                self.attempt(&request, &context, access).await
            }
        };
        HttpResponse::Full(match attempted {
            Ok(response) => wire::json(response, rendering, profile),
            Err(WouldWrite) => Refusal::method("POST", WouldWrite::MESSAGE)
                .rendered(rendering)
                .into_response(profile),
        })
    }
}
