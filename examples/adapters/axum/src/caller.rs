//! The authenticated caller of a request.

use std::mem;

use axum::extract::{FromRef, FromRequestParts, OptionalFromRequestParts};
use http::{header::AUTHORIZATION, request::Parts};
use http_conventions::errors::{Challenge as ProblemChallenge, Problem};
use oauth_core::resource::{AuthenticatedToken, Challenge, ResourceServer};

use crate::extract::exchange;
use crate::nonce::NextNonce;
use crate::refusal::{Reason, Refusal};
use crate::target::asked_for;

/// The authenticated caller of a request, checked by the [`ResourceServer`] of the state.
///
/// The access token, and the proof of the key that it is bound to, are checked at the time of the
/// conventions' clock. `Option<Caller>` admits requests without a token.
///
/// If the client needs a newer [nonce](AuthenticatedToken::dpop_nonce) for its next DPoP proof, the
/// layer adds the nonce to the response.
#[derive(Clone, Debug)]
pub struct Caller(pub AuthenticatedToken);

impl<S: Sync> FromRequestParts<S> for Caller
where
    ResourceServer: FromRef<S>,
{
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let now = exchange(parts)?.conventions().now();
        // a DPoP proof names the URI that the client requested
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

impl From<Challenge> for Refusal {
    fn from(refused: Challenge) -> Self {
        let mut challenges = refused.www_authenticate().into_iter().map(|challenge| {
            ProblemChallenge::try_from(challenge).unwrap_or_else(|_| ProblemChallenge::bearer())
        });
        let problem = match challenges.next() {
            Some(first) => Problem::challenged(refused.status(), first),
            None => Problem::of_status(refused.status()),
        };
        let problem = challenges.fold(problem, Problem::with_challenge);
        let problem = match refused.code() {
            Some(code) => problem.with_extension("error", code),
            None => problem,
        };
        // `DPoP-Nonce`, and the CORS field that lets a script read it
        let headers = refused.headers();
        let problem = headers.iter().fold(problem, |problem, (name, value)| {
            problem.with_header(name.clone(), value.clone())
        });
        Self::new(problem, Reason::Caller(refused))
    }
}
