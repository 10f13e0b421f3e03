//! A new password for somebody who has lost the old one, by a token that is sent to their address.

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

/// How long a reset token is good for.
const RESET_LIFETIME: Duration = Duration::from_secs(15 * 60);

impl Sessions {
    /// A token good for fifteen minutes and one password, to be sent to the address of `subject`; older ones are worth
    /// nothing from now on.
    ///
    /// `address` is what was typed, and `subject` whose it is. For an address that nobody has, `None` gives none, after the same work:
    /// answer both alike, and send the message afterwards.
    ///
    /// So many letters to one address as [`with_reset_limit`](Self::with_reset_limit) says are sent; for what is beyond them there
    /// is none either, after the same work and with the same answer, and the last letter stays good. How often one peer may ask is
    /// the host's to bound.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the token was not stored or the answer was lost.
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

    /// Whose password a token would let be set now, for the page that asks for the new one. Spends nothing.
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

    /// Spends the token and ends everything of its subject; then set the password. The page tells
    /// [`Redeemed`](ResetOutcome::Redeemed) from the rest and no more.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the token may be spent then, and its owner asks for another.
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
