//! Client authentication by `private_key_jwt`, [RFC 7523
//! §2.2](https://www.rfc-editor.org/rfc/rfc7523#section-2.2).

use std::sync::Arc;
use std::time::SystemTime;

use super::AuthorizationServer;
use super::endpoint_response::{Broken, Failure};
use crate::error::{ErrorCode, Reason};
use crate::jose::{ClientAssertion, ClientAssertionPolicy, JwtError, KeySet, VerifyError};
use crate::params::Params;
use crate::store::{ClientKeys, ClientKeysUri, SpendOutcome};
use crate::vocabulary::ClientId;

/// Parameters of an assertion, [RFC 7521 §4.2](https://www.rfc-editor.org/rfc/rfc7521#section-4.2).
pub(super) const PARAMETERS: [&str; 2] = ["client_assertion", "client_assertion_type"];

/// Returns the assertion in the form, and the client that the assertion names. Nothing is verified
/// yet.
pub(super) fn read(params: &Params) -> Result<(ClientId, &str), Reason> {
    let [assertion, kind] = PARAMETERS.map(|name| params.optional(name));
    let (Some(assertion), Some(ClientAssertion::TYPE)) = (assertion, kind) else {
        return Err(Reason::ClientAssertionUnsupported);
    };
    let client_id = ClientAssertion::claimed_client(assertion).map_err(reason)?;
    Ok((client_id, assertion))
}

impl AuthorizationServer {
    /// Verifies an assertion, but does not check for replay. The time is the same for a client that
    /// does not exist or has no keys.
    pub(super) fn verified_assertion(
        &self,
        assertion: &str,
        client_id: &ClientId,
        keys: Option<&ClientKeys>,
        now: SystemTime,
    ) -> Result<ClientAssertion, Reason> {
        let policy = self.assertion_policy(client_id)?;
        ClientAssertion::verify_alike(assertion, keys.map(ClientKeys::keys), &policy, now).map_err(reason)
    }

    /// Verifies an assertion with the keys at the client's `jwks_uri`, but does not check for
    /// replay. The inner error is the reason of a refusal.
    pub(super) async fn remotely_verified_assertion(
        &self,
        assertion: &str,
        client_id: &ClientId,
        keys: &ClientKeysUri,
        now: SystemTime,
    ) -> Result<Result<ClientAssertion, Reason>, Broken> {
        let policy = match self.assertion_policy(client_id) {
            Ok(policy) => policy,
            Err(reason) => return Ok(Err(reason)),
        };
        let sets = self.inner.options.client_key_sets.as_ref();
        let Some(set) = sets.and_then(|sets| sets.at(keys.uri())) else {
            return Ok(Err(Reason::ClientAssertionUnsupported));
        };
        match ClientAssertion::algorithm(assertion) {
            Ok(algorithm) if algorithm == keys.algorithm() => {}
            Ok(_) => return Ok(Err(Reason::ClientAssertionAlgorithm)),
            Err(error) => return Ok(Err(reason(error))),
        }
        let verify = |keys: &KeySet| ClientAssertion::verify(assertion, keys, &policy, now);
        match set.verify(verify, now).await {
            Ok(assertion) => Ok(Ok(assertion)),
            Err(VerifyError::Refused(error)) => Ok(Err(reason(error))),
            Err(VerifyError::KeysUnavailable(fault)) => Err(Broken {
                error: ErrorCode::TemporarilyUnavailable,
                reason: Reason::ClientKeysUnavailable,
                cause: Arc::new(fault),
            }),
        }
    }

    fn assertion_policy(&self, client_id: &ClientId) -> Result<ClientAssertionPolicy, Reason> {
        if self.inner.options.replays.is_none() {
            return Err(Reason::ClientAssertionUnsupported);
        }
        let policy = ClientAssertionPolicy::new(self.inner.issuer.clone(), client_id.clone());
        if self.inner.options.strict_client_assertions {
            return Ok(policy);
        }
        let endpoint = self.inner.options.paths.token_url(&self.inner.issuer);
        Ok(policy.with_token_endpoint(&endpoint))
    }

    /// Stores the `jti` of an assertion, or refuses a replay. Call it after all other checks of the
    /// authentication, so that a refused request stores nothing.
    pub(super) async fn spend(&self, assertion: &ClientAssertion, now: SystemTime) -> Result<(), Failure> {
        let refuse = |reason| Err(self.invalid_client(reason, Some(assertion.client_id.clone())));
        let Some(replays) = &self.inner.options.replays else {
            return refuse(Reason::ClientAssertionUnsupported);
        };
        let spent = replays.insert_once(assertion.replay_key(), assertion.replayable_until(), now);
        match spent.await? {
            SpendOutcome::Fresh => Ok(()),
            SpendOutcome::Seen => refuse(Reason::ClientAssertionReplayed),
        }
    }
}

const fn reason(error: JwtError) -> Reason {
    match error {
        JwtError::UnsupportedAlgorithm => Reason::ClientAssertionAlgorithm,
        JwtError::WrongType => Reason::ClientAssertionOfAnotherType,
        JwtError::UnknownKey | JwtError::AmbiguousKey => Reason::ClientAssertionKeyUnknown,
        JwtError::SignatureMismatch => Reason::ClientAssertionSignatureMismatch,
        JwtError::WrongIssuer | JwtError::WrongSubject => Reason::ClientAssertionOfAnotherClient,
        JwtError::WrongAudience => Reason::ClientAssertionForAnotherServer,
        JwtError::Expired => Reason::ClientAssertionExpired,
        JwtError::LivesTooLong => Reason::ClientAssertionLivesTooLong,
        JwtError::NotYetValid => Reason::ClientAssertionNotYetValid,
        // the other errors concern claims that a client assertion does not have
        _ => Reason::ClientAssertionMalformed,
    }
}
