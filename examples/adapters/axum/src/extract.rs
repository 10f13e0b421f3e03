//! What handlers ask for in their arguments.

use std::mem;
use std::time::Duration;

use axum::RequestExt as _;
use axum::body::Body;
use axum::extract::{FromRef, FromRequest, FromRequestParts, OptionalFromRequestParts, Request};
use bytes::Bytes;
use http::{StatusCode, header::AUTHORIZATION, request::Parts};
use http_conventions::errors::Problem;
use http_conventions::paging::PageRequest;
use http_conventions::pipeline::{Admitted, Exchange};
use oauth_core::resource::{AuthenticatedToken, ResourceServer};

use crate::content::collect;
use crate::nonce::NextNonce;
use crate::refusal::{Reason, Refusal, no_conventions};
use crate::target::asked_for;

/// How long a peer may take to send a body, as by default in [`Limits`](crate::Limits).
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The exchange of this request, which [`ConventionsLayer`](crate::ConventionsLayer) has admitted: what a handler is limited
/// by, replayed by and evaluates preconditions with. An answer that it finished passes the layer as it is.
#[derive(Clone, Debug)]
pub struct Admission(pub Exchange<Admitted>);

impl<S: Sync> FromRequestParts<S> for Admission {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        exchange(parts).cloned().map(Self)
    }
}

/// Who is calling: who presents an access token, and has what it is bound to, that the [`ResourceServer`] of the state takes, now by the clock of the
/// conventions. `Option<Caller>` lets those pass who present nothing.
///
/// Where the caller needs a newer [nonce](AuthenticatedToken::dpop_nonce) for its next proof, the layer hands it out with the answer, whatever
/// that is.
#[derive(Clone, Debug)]
pub struct Caller(pub AuthenticatedToken);

impl<S: Sync> FromRequestParts<S> for Caller
where
    ResourceServer: FromRef<S>,
{
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let now = exchange(parts)?.conventions().now();
        // proofs are for that one
        let asked_for = asked_for(&parts.uri, &parts.extensions);
        let routed = mem::replace(&mut parts.uri, asked_for);
        let authenticated = ResourceServer::from_ref(state).authenticate(parts, now).await;
        parts.uri = routed;
        let principal = authenticated?;
        NextNonce::note(parts, &principal);
        Ok(Self(principal))
    }
}

impl<S: Sync> OptionalFromRequestParts<S> for Caller
where
    ResourceServer: FromRef<S>,
{
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Option<Self>, Refusal> {
        use oauth_core::resource::ChallengeReason::NoToken;
        match <Self as FromRequestParts<S>>::from_request_parts(parts, state).await {
            Ok(caller) => Ok(Some(caller)),
            Err(refusal) => match refusal.reason() {
                Reason::Caller(challenge)
                    if *challenge.reason() == NoToken && !parts.headers.contains_key(AUTHORIZATION) =>
                {
                    Ok(None)
                }
                _ => Err(refusal),
            },
        }
    }
}

/// The page that the query asks for, within the [rules](http_conventions::pipeline::Conventions::page_rules) of the conventions.
#[derive(Clone, Debug)]
pub struct Paged(pub PageRequest);

impl<S: Sync> FromRequestParts<S> for Paged {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        let conventions = exchange(parts)?.conventions();
        let rules = conventions.page_rules().unwrap_or_default();
        rules
            .parse(parts.uri.query())
            .map(Self)
            .map_err(|invalid| Refusal::new(invalid.problem(conventions.problems()), Reason::Page(invalid)))
    }
}

/// The request with its content read, as every endpoint of the four crates takes it: with the URI that the client asked for, also
/// in a router that is nested.
///
/// The size is limited by the conventions, and by axum's `DefaultBodyLimit`; content that is not there within ten seconds is
/// refused by 408. An endpoint needs no conventions around it.
#[derive(Clone, Debug)]
pub struct Whole(pub http::Request<Bytes>);

impl<S: Sync> FromRequest<S> for Whole {
    type Rejection = Refusal;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Refusal> {
        let (mut parts, body) = request.with_limited_body().into_parts();
        parts.uri = asked_for(&parts.uri, &parts.extensions);
        match collect(Body::new(body), READ_TIMEOUT).await {
            Ok(content) => Ok(Self(http::Request::from_parts(parts, content))),
            Err(status) => {
                let problem = match parts.extensions.get::<Exchange<Admitted>>() {
                    Some(exchange) if status == StatusCode::PAYLOAD_TOO_LARGE => {
                        let conventions = exchange.conventions();
                        let too_large = conventions.size_limits().too_much_content();
                        too_large.problem(conventions.problems())
                    }
                    _ => Problem::of_status(status),
                };
                Err(Refusal::new(problem, Reason::Content(status)))
            }
        }
    }
}

fn exchange(parts: &Parts) -> Result<&Exchange<Admitted>, Refusal> {
    parts.extensions.get().ok_or_else(no_conventions)
}
