//! HTTP endpoint of the engine.

use bytes::Bytes;
use http::{Request, Response};

use super::root::{Root, SubscriptionRoot};
use super::{Access, Engine, WouldWrite};
use crate::guard::RequestContext;
use crate::http::{self as wire, Exchange, HttpResponse, Refusal, Rendering, StatusProfile};

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Executes an HTTP request for `/graphql`; see [`http`](crate::http) for methods and statuses.
    ///
    /// # Security
    ///
    /// - This method reads no credentials. The host authenticates the request and sets the
    ///   principal in `context`.
    /// - A stream does not end when the client's token expires. The host must drop the
    ///   [`HttpResponse::Stream`] at that time. The client then sends a new request with a fresh
    ///   token.
    pub async fn respond(&self, request: Request<Bytes>, context: RequestContext<Q::Host>) -> HttpResponse {
        let profile = self.inner.http.profile;
        let (request, rendering, multipart, access) = match self.inner.http.read(&request) {
            Ok(Exchange::Explorer) => return HttpResponse::Full(wire::explorer_page()),
            Ok(Exchange::Operation {
                request,
                rendering,
                multipart,
                read_only,
            }) => (
                request,
                rendering,
                multipart,
                if read_only {
                    Access::ReadOnly
                } else {
                    Access::ReadWrite
                },
            ),
            Ok(Exchange::Batch { requests, rendering }) => {
                // boxed: keeps the rare batch out of the size of every request's future
                let answers = Box::pin(self.batch(requests, &context)).await;
                return HttpResponse::Full(wire::list(answers, rendering));
            }
            Err(refusal) => return HttpResponse::Full(self.refuse(refusal, profile)),
        };
        if multipart.is_accepted() {
            // boxed: keeps the rare case out of the size of every request's future
            return Box::pin(self.respond_multipart(request, (rendering, multipart), access, context)).await;
        }
        let attempted = match rendering {
            Rendering::EventStream => match self.prepared(&request, &context).await {
                Ok(found) if access.refuses(found.document.kind) => {
                    found.refuse_write();
                    Err(WouldWrite)
                }
                // runs the checked document: a second lookup could find a mutation for a hash that
                // was unknown before
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
            Err(WouldWrite) => WouldWrite::refusal(rendering).into_response(profile),
        })
    }
    /// Response to a request that is not a valid GraphQL request.
    pub(super) fn refuse(&self, refusal: Refusal, profile: StatusProfile) -> Response<Bytes> {
        self.inner.observe().refuse(refusal.code());
        refusal.into_response(profile)
    }
}
