//! What a source has, and what it needs next.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::{BoxFuture, Shared};
use subtle::ConstantTimeEq;

use super::{RefreshError, TokenSink};
use crate::client::{Call, OAuthError, TokenResponse};
use crate::secret::AccessToken;

pub(super) type Renewed = Result<Arc<TokenResponse>, RefreshError>;
pub(super) type Flight = Shared<BoxFuture<'static, Renewed>>;

pub(super) struct State {
    tokens: Option<Arc<TokenResponse>>,
    /// When the server gave them, if it did so here.
    came: Option<SystemTime>,
    /// Keeps those that come.
    sink: Option<Arc<dyn TokenSink>>,
    /// Whether the sink has them.
    is_saved: bool,
    /// Asks for the first tokens; where it may be sent any number of times, also for others in their place.
    first: Option<Call<TokenResponse>>,
    /// The server's last word.
    ended: Option<OAuthError>,
    /// What is on its way, and may have nobody to drive it.
    flight: Option<Flight>,
}

/// What a caller does next.
pub(super) enum Step {
    Have(Arc<TokenResponse>),
    Wait(Flight),
}

/// What has to be done to have tokens: these saved, then, if they are over, this sent.
pub(super) struct Errand {
    pub(super) unsaved: Option<Arc<TokenResponse>>,
    pub(super) call: Option<Call<TokenResponse>>,
}

/// Whether the access token is good beyond this instant, as far as the server said.
pub(super) fn outlives(tokens: &TokenResponse, instant: SystemTime) -> bool {
    tokens.expires_at().is_none_or(|end| instant < end)
}

fn is(token: &AccessToken, other: &AccessToken) -> bool {
    token.expose().as_bytes().ct_eq(other.expose().as_bytes()).into()
}

impl State {
    pub(super) fn having(tokens: TokenResponse) -> Self {
        Self::with(Some(Arc::new(tokens)), None)
    }

    pub(super) fn asking(first: Call<TokenResponse>) -> Self {
        Self::with(None, Some(first))
    }

    fn with(tokens: Option<Arc<TokenResponse>>, first: Option<Call<TokenResponse>>) -> Self {
        Self {
            tokens,
            came: None,
            sink: None,
            is_saved: true,
            first,
            ended: None,
            flight: None,
        }
    }

    /// The sink of before, if there was one, for the caller to drop.
    pub(super) fn keep_by(&mut self, sink: Arc<dyn TokenSink>) -> Option<Arc<dyn TokenSink>> {
        self.sink.replace(sink)
    }

    pub(super) fn sink(&self) -> Option<Arc<dyn TokenSink>> {
        self.sink.clone()
    }

    /// Whether this is the present access token, and came less than so long ago. One that came after `now` is of a clock that was set
    /// back, and as old as any.
    pub(super) fn is_new(&self, token: &AccessToken, age: Duration, now: SystemTime) -> bool {
        let is_present = |tokens: &Arc<TokenResponse>| is(token, tokens.access_token());
        let since = self.came.and_then(|came| now.duration_since(came).ok());
        self.tokens.as_ref().is_some_and(is_present) && since.is_some_and(|since| since < age)
    }

    pub(super) fn tokens(&self) -> Option<Arc<TokenResponse>> {
        self.tokens.clone()
    }

    /// How to come by tokens that are good beyond `instant`, and are not the ones that were refused; `begin` makes the flight of an errand
    /// that has to be done first. It stays here until it lands.
    pub(super) fn next(
        &mut self,
        refused: Option<&AccessToken>,
        instant: SystemTime,
        begin: impl FnOnce(Errand) -> Flight,
    ) -> Result<Step, RefreshError> {
        if let Some(answer) = &self.ended {
            return Err(RefreshError::Ended(answer.clone()));
        }
        let is_refused =
            |tokens: &TokenResponse| refused.is_some_and(|token| is(token, tokens.access_token()));
        let is_good =
            |tokens: &&Arc<TokenResponse>| self.is_saved && outlives(tokens, instant) && !is_refused(tokens);
        let good = self.tokens.as_ref().filter(is_good);
        // whoever was refused none of them has no part in why others are on their way
        if let Some(tokens) = good.filter(|_| refused.is_none() || self.flight.is_none()) {
            return Ok(Step::Have(Arc::clone(tokens)));
        }
        if let Some(flight) = &self.flight {
            return Ok(Step::Wait(flight.clone()));
        }
        let unsaved = self.tokens.clone().filter(|_| !self.is_saved);
        let call = self.call();
        if unsaved.is_none() && call.is_none() {
            return Err(RefreshError::NoRefreshToken);
        }
        let flight = begin(Errand { unsaved, call });
        self.flight = Some(flight.clone());
        Ok(Step::Wait(flight))
    }

    /// What brings the next tokens, if anything does.
    fn call(&self) -> Option<Call<TokenResponse>> {
        // a refresh token beside the tokens of a client itself is of no use: its end would be the end of what never ends
        let first = self.first.as_ref().map(Call::again);
        first.or_else(|| self.tokens.as_ref().and_then(|tokens| tokens.refresh()))
    }

    /// Tokens have come; those of before, if there were any, for the caller to drop.
    pub(super) fn take(&mut self, tokens: Arc<TokenResponse>, now: SystemTime) -> Option<Arc<TokenResponse>> {
        self.came = Some(now);
        self.first.take_if(|first| !first.is_standing());
        self.is_saved = false;
        self.tokens.replace(tokens)
    }

    pub(super) fn saved(&mut self) {
        self.is_saved = true;
    }

    pub(super) fn end(&mut self, answer: OAuthError) {
        self.ended = Some(answer);
    }

    /// What was on its way has landed; for the caller to drop.
    pub(super) fn land(&mut self) -> Option<Flight> {
        self.flight.take()
    }
}
