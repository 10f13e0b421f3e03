//! Batches: several operations in one request.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Engine;
use super::root::{Root, SubscriptionRoot};
use crate::guard::RequestContext;
use crate::http::{GraphRequest, Refusal};
use crate::limits::Estimate;
use crate::response::GraphResponse;

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Executes each of `requests`, or refuses all if together they exceed a limit.
    ///
    /// All requests are checked before the first request runs. They run in sequence, so each
    /// request sees the writes of the previous requests. The loader caches are cleared before each
    /// request.
    pub(super) async fn batch(
        &self,
        requests: Vec<Result<GraphRequest, Refusal>>,
        context: &RequestContext<Q::Host>,
    ) -> Result<Vec<GraphResponse>, GraphResponse> {
        let (mut prepared, mut sum) = (Vec::with_capacity(requests.len()), Estimate::default());
        for request in requests {
            prepared.push(match request {
                Ok(request) => self.prepared(&request, context).await.map(|mut found| {
                    sum = sum.with(found.estimate);
                    found.observation.pause();
                    (request, found)
                }),
                Err(refusal) => {
                    let refused = refusal.into_envelope();
                    self.inner.observe().finish(&refused);
                    Err(refused)
                }
            });
        }
        // catches panics, because the host's log may panic
        let judged = AssertUnwindSafe(|| self.inner.within_together(&sum, context.principal()));
        match catch_unwind(judged) {
            Ok(Ok(())) => {}
            Ok(Err(refused)) => {
                for (_, found) in prepared.iter_mut().flatten() {
                    found.observation.finish(&refused);
                }
                return Err(refused);
            }
            Err(payload) => {
                let failed = self.panicked(payload.as_ref(), context);
                let answers = prepared.into_iter().map(|one| match one {
                    Ok((_, mut found)) => {
                        found.observation.finish(&failed);
                        failed.clone()
                    }
                    Err(refused) => refused,
                });
                return Ok(answers.collect());
            }
        }
        let mut answers = Vec::with_capacity(prepared.len());
        for one in prepared {
            answers.push(match one {
                Ok((request, found)) => {
                    context.loaders().clear();
                    self.run_prepared(found, &request, context).await
                }
                Err(refused) => refused,
            });
        }
        Ok(answers)
    }
}
