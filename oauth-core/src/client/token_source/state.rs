//! State of a token source, and the next step of a caller.

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
    /// Instant at which the server issued the tokens to this source.
    came: Option<SystemTime>,
    /// Sink for new tokens.
    sink: Option<Arc<dyn TokenSink>>,
    /// `true` if the sink has saved the tokens.
    is_saved: bool,
    /// Call for the first tokens; a standing one is also repeated for later tokens.
    first: Option<Call<TokenResponse>>,
    /// Final refusal by the server.
    ended: Option<OAuthError>,
    /// Refresh in progress; its waiters may have been dropped.
    flight: Option<Flight>,
}

/// Next step of a caller.
pub(super) enum Step {
    Have(Arc<TokenResponse>),
    Wait(Flight),
}

/// Work to do: save these tokens, then, if they have expired, send this call.
pub(super) struct Errand {
    pub(super) unsaved: Option<Arc<TokenResponse>>,
    pub(super) call: Option<Call<TokenResponse>>,
}

/// Returns `true` if the access token is valid beyond this instant, as far as known.
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

    /// Replaces the sink. Returns the previous one, for the caller to drop.
    pub(super) fn keep_by(&mut self, sink: Arc<dyn TokenSink>) -> Option<Arc<dyn TokenSink>> {
        self.sink.replace(sink)
    }

    pub(super) fn sink(&self) -> Option<Arc<dyn TokenSink>> {
        self.sink.clone()
    }

    /// Returns `true` if this is the current access token and it is younger than `age`. A token
    /// from after `now` counts as old, because the clock was set back.
    pub(super) fn is_new(&self, token: &AccessToken, age: Duration, now: SystemTime) -> bool {
        let is_present = |tokens: &Arc<TokenResponse>| is(token, tokens.access_token());
        let since = self.came.and_then(|came| now.duration_since(came).ok());
        self.tokens.as_ref().is_some_and(is_present) && since.is_some_and(|since| since < age)
    }

    pub(super) fn tokens(&self) -> Option<Arc<TokenResponse>> {
        self.tokens.clone()
    }

    /// Decides how a caller gets tokens that are valid beyond `instant` and are not the refused
    /// ones. `begin` creates the flight of the errand, which stays here until it lands.
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
        // a caller whose token was not refused does not wait for a renewal by others
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

    /// Call for the next tokens, if there is one.
    fn call(&self) -> Option<Call<TokenResponse>> {
        // a standing call is repeated: a refresh token could end, the client's own grant does not
        let first = self.first.as_ref().map(Call::again);
        first.or_else(|| self.tokens.as_ref().and_then(|tokens| tokens.refresh()))
    }

    /// Stores new tokens. Returns the previous ones, for the caller to drop.
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

    /// Ends the flight. Returns it, for the caller to drop.
    pub(super) fn land(&mut self) -> Option<Flight> {
        self.flight.take()
    }
}
