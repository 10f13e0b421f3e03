//! Password resets by a token that is sent to the user's address.

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
    /// Issues a reset token for `subject`, which the host sends to the user's address. The token is
    /// valid once, for 15 minutes. Earlier reset tokens of the user become invalid.
    ///
    /// `address` is the address that the visitor entered, and `subject` its user, or `None` for an
    /// unknown address. For an unknown address the method does the same work and returns `None`.
    /// The host gives the same response in both cases and sends the message afterwards.
    ///
    /// [`with_reset_limit`](Self::with_reset_limit) limits the messages per address. Beyond the
    /// limit the method does the same work and returns `None`, and the last token stays valid. The
    /// host must limit the requests per source itself.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the token was not stored or the response was lost.
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

    /// Returns the user of a valid token, for the page with the form for the new password. The
    /// token stays valid.
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

    /// Redeems the token and ends all sessions and tokens of its user. After
    /// [`Redeemed`](ResetOutcome::Redeemed) the host sets the password. The page shows the same
    /// error for all other outcomes.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. The token may be redeemed then; the user
    /// requests another one.
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
