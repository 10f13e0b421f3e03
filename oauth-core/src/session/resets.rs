//! Password resets by a token that the host sends to the user's address.

use std::time::{Duration, SystemTime};

use super::Sessions;
use super::sessions::ended;
use crate::attempts::{Admission, AttemptKey};
use crate::error::Reason;
use crate::event::{AuthEvent, AuthEventKind};
use crate::ports::StoreError;
use crate::secret::PasswordResetToken;
use crate::store::{ResetOutcome, ResetTokenRecord, RevocationReason};
use crate::time::later;
use crate::vocabulary::Subject;

/// Lifetime of a reset token: 15 minutes.
const RESET_LIFETIME: Duration = Duration::from_secs(15 * 60);

impl Sessions {
    /// Issues a password-reset token for `subject`. The host sends the token to the user's address.
    /// The token is valid once, for 15 minutes. Earlier reset tokens of the user become invalid.
    ///
    /// `address` is the address that the visitor entered. `subject` is the user with this address,
    /// or `None` for an unknown address. For an unknown address the method does the same work and
    /// returns `None`, so that the time does not reveal which addresses are known. The host must
    /// give the same response in both cases, and send the message after the response.
    ///
    /// [`with_reset_limit`](Self::with_reset_limit) limits the messages per address. Above the
    /// limit the method does the same work and returns `None`, and the last issued token stays
    /// valid. The host must limit the requests per source itself.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when a store cannot answer. The host sends no message then.
    pub async fn issue_reset(
        &self,
        address: &str,
        subject: Option<&Subject>,
    ) -> Result<Option<PasswordResetToken>, StoreError> {
        let now = self.clock.now();
        let subject = match self.may_be_sent(address, now).await? {
            Admission::Admitted => subject,
            Admission::Refused { .. } => {
                let event = AuthEvent::new(AuthEventKind::AttemptsExceeded);
                let event = event.because(Reason::TooManyResets);
                self.tell(subject.map_or(event.clone(), |subject| event.about(subject)));
                None
            }
        };
        let token = PasswordResetToken::generate(&*self.entropy);
        let record = ResetTokenRecord {
            hash: token.hash(),
            subject: subject.cloned(),
            issued_at: now,
            expires_at: later(now, RESET_LIFETIME),
        };
        self.store.put_reset_token(record).await?;
        if let Some(subject) = subject {
            self.tell(AuthEvent::new(AuthEventKind::ResetTokenIssued).about(subject));
        }
        Ok(subject.map(|_| token))
    }

    /// Returns the user of a valid token, for the page that asks for the new password; `None` if
    /// the token is unknown, expired or without a user. The token stays valid.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    pub async fn reset_subject(&self, token: &PasswordResetToken) -> Result<Option<Subject>, StoreError> {
        let record = self.store.reset_token(&token.hash()).await?;
        let now = self.clock.now();
        Ok(record
            .filter(|record| now < record.expires_at)
            .and_then(|record| record.subject))
    }

    /// Redeems the token, and ends all sessions, codes and token families of its user. After
    /// [`Redeemed`](ResetOutcome::Redeemed) the host sets the new password. For all other outcomes
    /// the host shows the same error.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. The token may have been redeemed; the user must
    /// request another token.
    pub async fn redeem_reset(&self, token: &PasswordResetToken) -> Result<ResetOutcome, StoreError> {
        let outcome = self
            .store
            .redeem_reset_token(&token.hash(), self.clock.now())
            .await?;
        if let ResetOutcome::Redeemed { subject, .. } = &outcome {
            self.tell(AuthEvent::new(AuthEventKind::ResetTokenRedeemed).about(subject));
            self.tell(ended(subject, None, RevocationReason::PasswordReset));
        }
        Ok(outcome)
    }

    async fn may_be_sent(&self, address: &str, now: SystemTime) -> Result<Admission, StoreError> {
        match &self.reset_limit {
            Some((store, policy)) => store.admit(&AttemptKey::reset(address), policy, now).await,
            None => Ok(Admission::Admitted),
        }
    }
}
