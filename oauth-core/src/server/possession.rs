//! DPoP proofs of clients, [RFC 9449 §5](https://www.rfc-editor.org/rfc/rfc9449#section-5).

use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderValue, Request, Response};

use super::AuthorizationServer;
use super::endpoint_paths::EndpointPaths;
use super::endpoint_response::Failure;
use super::metadata::Offer;
use crate::dpop::{self, Htu, InvalidHtu, NonceKey, Nonces, ProofError, ProofPolicy, ProvenKey, Target};
use crate::error::{ErrorCode, ErrorResponse, Reason};
use crate::mtls::ClientCertificate;
use crate::store::{RegisteredClient, SenderConstraint, SpendOutcome};
use crate::vocabulary::{Confirmation, Issuer};

/// Policy for DPoP proofs, and the public URLs of the endpoints that accept proofs.
pub(super) struct Possession {
    policy: ProofPolicy,
    /// Endpoint URLs below the issuer and, if set, below the base URL of the mTLS endpoint aliases.
    places: Vec<Places>,
}

struct Places {
    token: Htu,
    par: Htu,
    userinfo: Htu,
}

impl Possession {
    /// Creates policy and URLs from the settings. Returns `None` without a replay store.
    pub(super) fn offered(issuer: &Issuer, offer: &Offer<'_>, nonces: Option<&NonceKey>) -> Option<Self> {
        let policy = match nonces {
            Some(key) => ProofPolicy::new().with_nonces(Nonces::of_authorization_server(key, issuer)),
            None => ProofPolicy::new(),
        };
        let bases = [Some(issuer), offer.mtls_base].into_iter().flatten();
        offer.replays.then(|| Self {
            policy,
            // an issuer is always a valid base URL
            places: bases
                .filter_map(|base| Places::below(base, offer.paths).ok())
                .collect(),
        })
    }
}

impl Places {
    fn below(base: &Issuer, paths: &EndpointPaths) -> Result<Self, InvalidHtu> {
        let base: Htu = base.as_str().parse()?;
        Ok(Self {
            token: base.join(&paths.token)?,
            par: base.join(&paths.par)?,
            userinfo: base.join(&paths.userinfo)?,
        })
    }

    fn of(&self, endpoint: Endpoint<'_>) -> &Htu {
        match endpoint {
            Endpoint::Token => &self.token,
            Endpoint::Par => &self.par,
            Endpoint::UserInfo(_) => &self.userinfo,
        }
    }
}

/// An endpoint that accepts proofs.
#[derive(Clone, Copy)]
pub(super) enum Endpoint<'a> {
    Token,
    Par,
    /// The UserInfo endpoint, with the presented access token.
    UserInfo(&'a str),
}

impl AuthorizationServer {
    /// Verifies the DPoP proof of the request. Returns `None` if the request has no proof, or if
    /// proofs are not enabled. The caller must [store](Self::spend_proof) the `jti` of a verified
    /// proof.
    pub(super) fn proven(
        &self,
        request: &Request<Bytes>,
        endpoint: Endpoint<'_>,
        now: SystemTime,
    ) -> Result<Option<ProvenKey>, ProofError> {
        let Some(possession) = &self.inner.possession else {
            return Ok(None);
        };
        if !request.headers().contains_key(dpop::HEADER) {
            return Ok(None);
        }
        let access_token = match endpoint {
            Endpoint::Token | Endpoint::Par => None,
            Endpoint::UserInfo(token) => Some(token),
        };
        let at = |places: &Places| {
            let target = Target {
                method: request.method(),
                uri: places.of(endpoint),
                access_token,
            };
            possession.policy.verify(request.headers(), &target, now)
        };
        let mut verdicts = possession.places.iter().map(at);
        verdicts
            .find(|verdict| verdict.as_ref().err() != Some(&ProofError::WrongUri))
            .unwrap_or(Err(ProofError::WrongUri))
            .map(Some)
    }

    /// Stores the `jti` of a proof; the inner result is the refusal of a replay. Call it after all
    /// other checks, so that a refused request stores nothing.
    pub(super) async fn spend_proof(
        &self,
        proven: Option<&ProvenKey>,
        now: SystemTime,
    ) -> Result<Result<(), ProofError>, Failure> {
        // proofs are only enabled with a replay store
        let (Some(proven), Some(replays)) = (proven, &self.inner.options.replays) else {
            return Ok(Ok(()));
        };
        let spent = replays.insert_once(proven.replay_key(), proven.replayable_until(), now);
        Ok(match spent.await? {
            SpendOutcome::Fresh => Ok(()),
            SpendOutcome::Seen => Err(ProofError::Replayed),
        })
    }

    /// Refuses a proof. The response has a nonce if the proof failed for lack of a valid nonce.
    pub(super) fn refused_proof(&self, error: ProofError, now: SystemTime) -> Failure {
        let code = if error.wants_nonce() {
            ErrorCode::UseDpopNonce
        } else {
            ErrorCode::InvalidDpopProof
        };
        let mut response = ErrorResponse::new(code).into_response();
        if error.wants_nonce() {
            self.hand_out_nonce(&mut response, now);
        }
        Failure::with_response(response, reason(error))
    }

    /// Adds the newest DPoP nonce to a response, if nonces are enabled.
    pub(super) fn hand_out_nonce(&self, response: &mut Response<Bytes>, now: SystemTime) {
        let possession = self.inner.possession.as_ref();
        let nonces = possession.and_then(|possession| possession.policy.nonces());
        let nonce = nonces.and_then(|nonces| HeaderValue::try_from(nonces.newest(now)).ok());
        if let Some(nonce) = nonce {
            response.headers_mut().insert(dpop::NONCE_HEADER, nonce);
        }
    }

    /// Returns the binding of the tokens that `client` requests: the key of its DPoP proof. Without
    /// a proof, it is the client certificate, if the client is registered for certificate-bound
    /// tokens and the server enables them.
    pub(super) fn confirmation(
        &self,
        request: &Request<Bytes>,
        client: &RegisteredClient,
        proven: Option<&ProvenKey>,
    ) -> Option<Confirmation> {
        let of_certificate = || {
            let is_registered = client.sender_constraint == Some(SenderConstraint::MutualTls);
            let certificate = request.extensions().get::<ClientCertificate>();
            certificate
                .filter(|_| is_registered && self.inner.options.certificates.bound_tokens)
                .map(ClientCertificate::confirmation)
        };
        match proven {
            Some(proven) => Some(Confirmation::Jkt(proven.thumbprint())),
            None => of_certificate(),
        }
    }

    /// Returns `true` if DPoP proofs are enabled.
    pub(super) fn takes_proofs(&self) -> bool {
        self.inner.possession.is_some()
    }
}

/// Maps a proof error to the reason in events.
pub(super) const fn reason(error: ProofError) -> Reason {
    match error {
        ProofError::Missing => Reason::DpopProofMissing,
        ProofError::Repeated => Reason::DpopProofRepeated,
        ProofError::Malformed => Reason::DpopProofMalformed,
        ProofError::WrongType => Reason::DpopProofOfAnotherType,
        ProofError::UnsupportedAlgorithm => Reason::DpopProofAlgorithm,
        ProofError::UnusableKey => Reason::DpopProofKeyUnusable,
        ProofError::SignatureMismatch => Reason::DpopProofSignatureMismatch,
        ProofError::WrongMethod => Reason::DpopProofForAnotherMethod,
        ProofError::WrongUri => Reason::DpopProofForAnotherUri,
        ProofError::NonceMissing => Reason::DpopNonceMissing,
        ProofError::NonceMismatch => Reason::DpopNonceMismatch,
        ProofError::TooOld => Reason::DpopProofTooOld,
        ProofError::NotYetValid => Reason::DpopProofNotYetValid,
        ProofError::WrongAccessToken => Reason::DpopProofForAnotherToken,
        ProofError::WrongKey => Reason::DpopProofOfAnotherKey,
        ProofError::Replayed => Reason::DpopProofReplayed,
    }
}
