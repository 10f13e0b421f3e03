//! Who calls: who presents an access token, and has the key that it is bound to, as far as the token says.

use std::time::SystemTime;

use bytes::Bytes;
use host_ports::Principal;
use http::Request;
use http::header::AUTHORIZATION;
use http_conventions::errors::{Challenge as ProblemChallenge, Problem};
use http_conventions::pipeline::{EarlyAnswer, Exchange};
use oauth_core::resource::{AuthenticatedToken, Challenge, ChallengeReason};
use oauth_core::vocabulary::Scope;

use super::problem::unavailable;
use super::{App, as_get};

/// Who presented a valid access token.
#[derive(Clone, Debug)]
pub(super) struct Caller(AuthenticatedToken);

impl Caller {
    /// What tokens call them.
    pub(super) fn subject(&self) -> &str {
        self.0.subject().as_str()
    }

    /// When the token ends, and with it what was opened with it.
    pub(super) fn expires_at(&self) -> SystemTime {
        self.0.expires_at()
    }

    /// The caller as the resolvers of the graph see them.
    pub(super) fn principal(&self) -> Principal {
        self.0.principal()
    }
}

impl App {
    /// The caller of a request that must have one, and the request, with GET for HEAD. Whatever the exchange comes to, its answer
    /// hands the caller the nonce that its next proof needs.
    ///
    /// # Errors
    ///
    /// 401 without a token or with one that is not valid here and now, 400 for malformed ones.
    pub(super) async fn authenticated<Stage: Clone>(
        &self,
        exchange: &mut Exchange<Stage>,
        request: Request<Bytes>,
    ) -> Result<(Caller, Request<Bytes>), EarlyAnswer> {
        let (parts, body) = request.into_parts();
        let principal = self.resources.authenticate(&parts, self.clock.now()).await;
        let principal = exchange.check(principal.map_err(|challenge| self.challenged(&challenge)))?;
        for (name, value) in &principal.headers() {
            exchange.set_header(name.clone(), value.clone());
        }
        Ok((Caller(principal), as_get(Request::from_parts(parts, body))))
    }

    /// The caller of a request that may have none; a token that is presented must be valid.
    ///
    /// # Errors
    ///
    /// As [`authenticated`](Self::authenticated), for a request that presents a token.
    pub(super) async fn maybe_authenticated<Stage: Clone>(
        &self,
        exchange: &mut Exchange<Stage>,
        request: Request<Bytes>,
    ) -> Result<(Option<Caller>, Request<Bytes>), EarlyAnswer> {
        if !request.headers().contains_key(AUTHORIZATION) {
            return Ok((None, as_get(request)));
        }
        let (caller, request) = self.authenticated(exchange, request).await?;
        Ok((Some(caller), request))
    }

    /// Refuses a caller whose token lacks the scope.
    ///
    /// # Errors
    ///
    /// 403 with the scope that is missing.
    pub(super) fn require(&self, caller: &Caller, scope: &str) -> Result<(), Problem> {
        let scope: Scope = scope.parse().map_err(|_| unavailable())?;
        caller
            .0
            .require(&scope)
            .map_err(|challenge| self.challenged(&challenge))
    }

    /// Each challenge with a problem body.
    fn challenged(&self, refused: &Challenge) -> Problem {
        if refused.reason() == &ChallengeReason::Unavailable {
            (self.log)(&failure::in_one_line(refused));
            return unavailable();
        }
        let mut challenges = refused.www_authenticate().into_iter().map(|challenge| {
            ProblemChallenge::try_from(challenge).unwrap_or_else(|_| ProblemChallenge::bearer())
        });
        let first = challenges.next().unwrap_or_else(ProblemChallenge::bearer);
        let problem = Problem::challenged(refused.status(), first);
        let problem = challenges.fold(problem, Problem::with_challenge);
        // the nonce, and leave for a script to read it
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
