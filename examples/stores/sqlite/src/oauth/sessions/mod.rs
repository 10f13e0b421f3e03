//! Sessions (S1–S4), password-reset tokens (S5), and revocation by session or subject.

mod reset_token;
mod row;

use std::time::SystemTime;

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{
    FamilyRevocation, Insertion, LogoutRecord, ResetOutcome, ResetTokenRecord, RevocationReason, Revoked,
    SessionChange, SessionId, SessionOutcome, SessionRecord, SessionRenewal, SessionStore,
};
use oauth_core::vocabulary::{ClientId, Subject};
use rusqlite::{Params, Transaction};

use crate::column::Time;
use crate::database::{Database, DatabaseError};
use crate::json::Document;
use crate::purge;

pub(super) use row::by_id as load;

#[async_trait]
impl SessionStore for Database {
    async fn insert_session(&self, session: SessionRecord) -> Result<Insertion, StoreError> {
        let session = Document::new(session)?;
        Ok(self
            .write(move |transaction| row::insert(transaction, &session))
            .await?)
    }

    async fn session(&self, hash: &TokenHash) -> Result<Option<SessionRecord>, StoreError> {
        let hash = *hash;
        Ok(self
            .read(move |connection| row::by_hash(connection, &hash))
            .await?)
    }

    async fn touch_session(&self, hash: &TokenHash, now: SystemTime) -> Result<SessionOutcome, StoreError> {
        let hash = *hash;
        Ok(self
            .write(move |transaction| row::change(transaction, &hash, SessionChange::Touch, now))
            .await?)
    }

    async fn renew_session(
        &self,
        hash: &TokenHash,
        new_hash: TokenHash,
        renewal: SessionRenewal,
        now: SystemTime,
    ) -> Result<SessionOutcome, StoreError> {
        let hash = *hash;
        let change = SessionChange::Renew {
            hash: new_hash,
            renewal,
        };
        Ok(self
            .write(move |transaction| row::change(transaction, &hash, change, now))
            .await?)
    }

    async fn end_session(
        &self,
        id: &SessionId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        let (id, end) = (*id, End::new(reason, now)?);
        Ok(self
            .write(move |transaction| end_session(transaction, &id, &end))
            .await?)
    }

    async fn end_session_by_secret(
        &self,
        hash: &TokenHash,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Option<SessionRecord>, StoreError> {
        let (hash, end) = (*hash, End::new(reason, now)?);
        Ok(self
            .write(move |transaction| {
                let Some(session) = row::meant_by(transaction, &hash)? else {
                    return Ok(None);
                };
                let _counts = end_session(transaction, &session.id, &end)?;
                Ok::<_, DatabaseError>(session.revoke(end.reason, end.now))
            })
            .await?)
    }

    async fn sessions_of(
        &self,
        subject: &Subject,
        now: SystemTime,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let subject = subject.clone();
        Ok(self
            .read(move |connection| row::active_of(connection, &subject, now))
            .await?)
    }

    async fn revoke_subject(
        &self,
        subject: &Subject,
        keep: Option<&SessionId>,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        let (subject, keep, end) = (subject.clone(), keep.copied(), End::new(reason, now)?);
        Ok(self
            .write(move |transaction| revoke_subject(transaction, &subject, keep, &end))
            .await?)
    }

    async fn put_reset_token(&self, token: ResetTokenRecord) -> Result<(), StoreError> {
        let token = Document::new(token)?;
        Ok(self
            .write(move |transaction| reset_token::put(transaction, &token))
            .await?)
    }

    async fn reset_token(&self, hash: &TokenHash) -> Result<Option<ResetTokenRecord>, StoreError> {
        let hash = *hash;
        Ok(self
            .read(move |connection| reset_token::load(connection, &hash))
            .await?)
    }

    async fn redeem_reset_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<ResetOutcome, StoreError> {
        let (hash, end) = (*hash, End::new(RevocationReason::PasswordReset, now)?);
        let redeem = self.write(move |transaction| -> Result<_, DatabaseError> {
            let token = reset_token::load(transaction, &hash)?;
            let subject = match ResetOutcome::decide(token.as_ref(), now) {
                Ok(subject) => subject.clone(),
                Err(refused) => return Ok(refused),
            };
            // this deletes the token too
            let revoked = revoke_subject(transaction, &subject, None, &end)?;
            Ok(ResetOutcome::Redeemed { subject, revoked })
        });
        Ok(redeem.await?)
    }

    async fn purge_sessions(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(self.purge_by(purge::OF_SESSIONS, now).await?)
    }
}

/// The revocation that sessions and families get.
pub(super) struct End {
    reason: RevocationReason,
    now: SystemTime,
    revocation: Document<FamilyRevocation>,
}

impl End {
    pub(super) fn new(reason: RevocationReason, now: SystemTime) -> Result<Self, DatabaseError> {
        let revocation = Document::new(FamilyRevocation::new(reason, now))?;
        Ok(Self {
            reason,
            now,
            revocation,
        })
    }
}

fn end_session(transaction: &Transaction<'_>, id: &SessionId, end: &End) -> Result<Revoked, DatabaseError> {
    let mut revoked = Revoked::default();
    if let Some(session) = row::by_id(transaction, id)? {
        revoked.sessions = row::end(transaction, &session, end.reason, end.now)?;
    }
    let named = id.to_string();
    let ended: &[_] = if revoked.sessions > 0 { &[*id] } else { &[] };
    revoked.families = revoke_families(transaction, "session = ?1", (&named, None), ended, end)?;
    revoked.codes = count(
        transaction,
        "DELETE FROM oauth_code WHERE session = ?1 AND redeemed IS NULL",
        [&named],
    )?;
    Ok(revoked)
}

/// Revokes the families of the subject at the client, and deletes its codes that were not redeemed.
pub(super) fn revoke_grants(
    transaction: &Transaction<'_>,
    subject: &Subject,
    client_id: &ClientId,
    end: &End,
) -> Result<Revoked, DatabaseError> {
    let families = revoke_families(
        transaction,
        "subject = ?1 AND record ->> '$.grant.client_id' = ?2",
        (subject.as_str(), Some(client_id.as_str())),
        &[],
        end,
    )?;
    let codes = count(
        transaction,
        "DELETE FROM oauth_code
         WHERE subject = ?1 AND redeemed IS NULL AND record ->> '$.grant.client_id' = ?2",
        (subject.as_str(), client_id.as_str()),
    )?;
    Ok(Revoked {
        families,
        codes,
        ..Revoked::default()
    })
}

fn revoke_subject(
    transaction: &Transaction<'_>,
    subject: &Subject,
    keep: Option<SessionId>,
    end: &End,
) -> Result<Revoked, DatabaseError> {
    let mut revoked = Revoked::default();
    let mut ended = Vec::new();
    for session in row::of_subject(transaction, subject)? {
        if Some(session.id) != keep && row::end(transaction, &session, end.reason, end.now)? > 0 {
            ended.push(session.id);
        }
    }
    revoked.sessions = ended.len() as u64;
    let kept = keep.map(|id| id.to_string());
    revoked.families = revoke_families(
        transaction,
        "subject = ?1 AND (?2 IS NULL OR session IS NOT ?2)",
        (subject.as_str(), kept.as_deref()),
        &ended,
        end,
    )?;
    revoked.codes = count(
        transaction,
        "DELETE FROM oauth_code WHERE subject = ?1 AND redeemed IS NULL AND (?2 IS NULL OR session IS NOT ?2)",
        (subject.as_str(), &kept),
    )?;
    revoked.reset_tokens = count(
        transaction,
        "DELETE FROM oauth_reset_token WHERE subject = ?1",
        [subject.as_str()],
    )?;
    Ok(revoked)
}

/// Revokes the families under a condition on `?1` and `?2` that are not revoked, and queues the
/// logouts of their clients, and of all clients of the sessions `ended`. Returns the number of
/// families.
fn revoke_families(
    transaction: &Transaction<'_>,
    condition: &str,
    key: (&str, Option<&str>),
    ended: &[SessionId],
    end: &End,
) -> Result<u64, DatabaseError> {
    let expires_at = end.now.checked_add(LogoutRecord::LIFETIME).unwrap_or(end.now);
    let queue = format!(
        "INSERT INTO oauth_logout (session, client_id, subject, attempts, fencing_token, due_at, expires_at)
         SELECT DISTINCT session, record ->> '$.grant.client_id', subject, 0, 0, ?3, ?4 FROM oauth_family
         WHERE ({condition} AND revocation IS NULL AND session IS NOT NULL)
             OR session IN (SELECT value FROM json_each(?5))
         ON CONFLICT (session, client_id) DO UPDATE
             SET attempts = 0, fencing_token = fencing_token + 1,
                 due_at = excluded.due_at, expires_at = excluded.expires_at"
    );
    let ended = Document::new(ended.to_vec())?;
    count(
        transaction,
        &queue,
        (key.0, key.1, Time(end.now), Time(expires_at), &ended.text),
    )?;
    let revoke = format!("UPDATE oauth_family SET revocation = ?3 WHERE {condition} AND revocation IS NULL");
    count(transaction, &revoke, (key.0, key.1, &end.revocation.text))
}

fn count(transaction: &Transaction<'_>, statement: &str, values: impl Params) -> Result<u64, DatabaseError> {
    Ok(transaction.prepare_cached(statement)?.execute(values)? as u64)
}
