//! Authentication of API requests by bearer and DPoP tokens.

use std::time::SystemTime;

use bytes::Bytes;
use host_ports::Principal;
use http::header::AUTHORIZATION;
use http::{Request, StatusCode};
use http_conventions::errors::{Challenge as ProblemChallenge, Problem};
use http_conventions::pipeline::{EarlyResponse, Exchange};
use oauth_core::resource::{AuthenticatedToken, Challenge, ChallengeReason};
use oauth_core::vocabulary::Scope;

use super::observed::record_principal;
use super::problem::unavailable;
use super::{App, as_get};

/// A caller with a valid access token.
#[derive(Clone, Debug)]
pub(super) struct Caller(AuthenticatedToken);

impl Caller {
    /// Subject of the token.
    pub(super) fn subject(&self) -> &str {
        self.0.subject().as_str()
    }

    /// Expiry of the token, which also ends the streams it opened.
    pub(super) fn expires_at(&self) -> SystemTime {
        self.0.expires_at()
    }

    /// The caller as seen by GraphQL resolvers.
    pub(super) fn principal(&self) -> Principal {
        self.0.principal()
    }
}

impl App {
    /// Authenticates a request that requires a token. Returns the caller and the request, with HEAD
    /// changed to GET. Every response carries the DPoP nonce for the caller's next proof.
    ///
    /// # Errors
    ///
    /// - 401 without a token, with an invalid one, or with one of a client that is no longer known
    /// - 400 for malformed credentials
    pub(super) async fn authenticated<Stage: Clone>(
        &self,
        exchange: &mut Exchange<Stage>,
        request: Request<Bytes>,
    ) -> Result<(Caller, Request<Bytes>), EarlyResponse> {
        let (parts, body) = request.into_parts();
        let principal = self
            .authority
            .current()
            .resources
            .authenticate(&parts, self.clock.now())
            .await;
        let principal = exchange.check(principal.map_err(|challenge| self.challenged(&challenge)))?;
        let known = self.only_clients.as_ref();
        if known.is_some_and(|known| !known.contains(principal.client_id())) {
            exchange.check(Err::<(), _>(unknown_client()))?;
        }
        record_principal(principal.subject().as_str());
        for (name, value) in &principal.headers() {
            exchange.set_header(name.clone(), value.clone());
        }
        Ok((Caller(principal), as_get(Request::from_parts(parts, body))))
    }

    /// Authenticates a request with an optional token. A presented token must be valid.
    ///
    /// # Errors
    ///
    /// See [`authenticated`](Self::authenticated), for a request with a token.
    pub(super) async fn maybe_authenticated<Stage: Clone>(
        &self,
        exchange: &mut Exchange<Stage>,
        request: Request<Bytes>,
    ) -> Result<(Option<Caller>, Request<Bytes>), EarlyResponse> {
        if !request.headers().contains_key(AUTHORIZATION) {
            return Ok((None, as_get(request)));
        }
        let (caller, request) = self.authenticated(exchange, request).await?;
        Ok((Some(caller), request))
    }

    /// Checks the scope of the caller's token.
    ///
    /// # Errors
    ///
    /// Returns 403 with the required scope.
    pub(super) fn require(&self, caller: &Caller, scope: &str) -> Result<(), Problem> {
        let scope: Scope = scope.parse().map_err(|_| unavailable())?;
        caller
            .0
            .require(&scope)
            .map_err(|challenge| self.challenged(&challenge))
    }

    /// Converts a challenge to a problem with the same headers.
    fn challenged(&self, refused: &Challenge) -> Problem {
        if refused.reason() == &ChallengeReason::Unavailable {
            tracing::error!(
                error = program::in_one_line(refused),
                "the token cannot be verified"
            );
            return unavailable();
        }
        let mut challenges = refused.www_authenticate().into_iter().map(|challenge| {
            ProblemChallenge::try_from(challenge).unwrap_or_else(|_| ProblemChallenge::bearer())
        });
        let first = challenges.next().unwrap_or_else(ProblemChallenge::bearer);
        let problem = Problem::challenged(refused.status(), first);
        let problem = challenges.fold(problem, Problem::with_challenge);
        // copy the nonce, and the header that exposes it to scripts
        let headers = refused.headers();
        let problem = headers.iter().fold(problem, |problem, (name, value)| {
            problem.with_header(name.clone(), value.clone())
        });
        match refused.code() {
            Some(code) => problem.with_extension("error", code),
            None => problem,
        }
    }
}

/// The 401 for a valid token of a client that the configuration has left out since.
fn unknown_client() -> Problem {
    let challenge = ProblemChallenge::bearer().with_parameter("error", "invalid_token");
    let challenge = challenge.unwrap_or_else(|_| ProblemChallenge::bearer());
    Problem::challenged(StatusCode::UNAUTHORIZED, challenge).with_extension("error", "invalid_token")
}
