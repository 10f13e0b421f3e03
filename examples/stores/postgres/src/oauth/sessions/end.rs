//! Ends sessions and revokes the grants of a session or a subject.
//!
//! Codes are locked before families: a redemption that holds a code inserts its family before the
//! lock of the code is free.

use std::time::SystemTime;

use oauth_core::secret::TokenHash;
use oauth_core::store::{
    FamilyRevocation, LogoutRecord, ResetOutcome, RevocationReason, Revoked, SessionId, SessionRecord,
};
use oauth_core::vocabulary::{ClientId, Subject};
use sqlx::{PgConnection, PgPool};

use super::{reset_token, row};
use crate::column::{nanoseconds, number};
use crate::database::{DatabaseError, begin};
use crate::json::Document;
use crate::oauth::subject;

/// Revokes the families under a condition that are not revoked, and queues the logouts of their
/// clients, and of all clients of the sessions `$4`. The query returns the number of families. `$1`
/// to `$4` are bound by [`End::bind`].
macro_rules! revoke_families {
    ($condition:literal) => {
        concat!(
            "WITH revoked AS (
                 UPDATE oauth_family SET revocation = $1 WHERE id = ANY(ARRAY(
                     SELECT id FROM oauth_family WHERE revocation IS NULL AND ",
            $condition,
            " ORDER BY id FOR NO KEY UPDATE))
                 RETURNING session, client_id, subject
             ), queued AS (
                 INSERT INTO oauth_logout AS logout
                     (session, client_id, subject, attempts, fencing_token, due_at, expires_at)
                 SELECT DISTINCT ON (session, client_id)
                     session, client_id, subject, 0, 0, $2::bigint, $3::bigint
                 FROM (
                     SELECT session, client_id, subject FROM revoked WHERE session IS NOT NULL
                     UNION
                     SELECT session, client_id, subject FROM oauth_family WHERE session = ANY($4::bytea[])
                 ) AS family
                 ORDER BY session, client_id
                 ON CONFLICT (session, client_id) DO UPDATE
                     SET attempts = 0, fencing_token = logout.fencing_token + 1,
                         due_at = excluded.due_at, expires_at = excluded.expires_at
             )
             SELECT count(*) FROM revoked"
        )
    };
}

type RevokeFamilies<'q> = sqlx::query::QueryScalar<'q, sqlx::Postgres, i64, sqlx::postgres::PgArguments>;

/// The revocation that sessions and families get.
pub(in crate::oauth) struct End {
    reason: RevocationReason,
    now: SystemTime,
    revocation: Document<FamilyRevocation>,
}

impl End {
    pub(in crate::oauth) fn new(reason: RevocationReason, now: SystemTime) -> Result<Self, DatabaseError> {
        let revocation = Document::new(FamilyRevocation::new(reason, now))?;
        Ok(Self {
            reason,
            now,
            revocation,
        })
    }

    /// Binds the first parameters of [`revoke_families`].
    fn bind<'q>(&'q self, query: RevokeFamilies<'q>, ended: &[SessionId]) -> RevokeFamilies<'q> {
        let expires_at = self.now.checked_add(LogoutRecord::LIFETIME);
        query
            .bind(&self.revocation.text)
            .bind(nanoseconds(self.now))
            .bind(nanoseconds(expires_at.unwrap_or(self.now)))
            .bind(ended.iter().map(|id| id.as_bytes().to_vec()).collect::<Vec<_>>())
    }

    /// Ends those of these sessions that are active, and returns them.
    async fn sessions(
        &self,
        connection: &mut PgConnection,
        sessions: impl IntoIterator<Item = SessionRecord>,
    ) -> Result<Vec<SessionId>, DatabaseError> {
        let revoked = |session: SessionRecord| session.revoke(self.reason, self.now);
        let ended: Vec<_> = sessions.into_iter().filter_map(revoked).collect();
        let ids: Vec<_> = ended.iter().map(|session| session.id).collect();
        if !ended.is_empty() {
            row::write(connection, ended).await?;
        }
        Ok(ids)
    }
}

/// Ends the session and its grants. Its row is locked first, so that no redemption is pending.
pub(super) async fn session(pool: &PgPool, id: &SessionId, end: &End) -> Result<Revoked, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let session = row::lock(&mut transaction, id).await?;
    let revoked = session_on(&mut transaction, id, session, end).await?;
    transaction.commit().await?;
    Ok(revoked)
}

/// Ends the active session of a secret, and its grants.
pub(super) async fn session_by_secret(
    pool: &PgPool,
    hash: &TokenHash,
    end: &End,
) -> Result<Option<SessionRecord>, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let Some(session) = row::lock_meant_by(&mut transaction, hash).await? else {
        return Ok(None);
    };
    let (id, ended) = (session.id, session.revoke(end.reason, end.now));
    let _counts = session_on(&mut transaction, &id, Some(session), end).await?;
    transaction.commit().await?;
    Ok(ended)
}

async fn session_on(
    connection: &mut PgConnection,
    id: &SessionId,
    session: Option<SessionRecord>,
    end: &End,
) -> Result<Revoked, DatabaseError> {
    let ended = end.sessions(connection, session).await?;
    let mut revoked = Revoked {
        sessions: ended.len() as u64,
        ..Revoked::default()
    };
    let codes = sqlx::query(
        "DELETE FROM oauth_code WHERE hash = ANY(ARRAY(
             SELECT hash FROM oauth_code WHERE session = $1 AND redeemed IS NULL ORDER BY hash FOR UPDATE))",
    );
    let codes = codes.bind(id.as_bytes()).execute(&mut *connection).await?;
    revoked.codes = codes.rows_affected();
    let families = end.bind(sqlx::query_scalar(revoke_families!("session = $5")), &ended);
    let families = families.bind(id.as_bytes()).fetch_one(connection);
    revoked.families = number(families.await?)?;
    Ok(revoked)
}

/// Ends all sessions and grants of the subject, except the session `keep` and its grants.
pub(super) async fn everything(
    pool: &PgPool,
    subject: &Subject,
    keep: Option<&SessionId>,
    end: &End,
) -> Result<Revoked, DatabaseError> {
    let mut transaction = subject::begin_alone(pool, subject).await?;
    let revoked = everything_on(&mut transaction, subject, keep, end).await?;
    transaction.commit().await?;
    Ok(revoked)
}

/// Revokes the families of the subject at the client, and deletes its codes that were not redeemed.
pub(in crate::oauth) async fn grants_at(
    pool: &PgPool,
    subject: &Subject,
    client_id: &ClientId,
    end: &End,
) -> Result<Revoked, DatabaseError> {
    let mut transaction = subject::begin_alone(pool, subject).await?;
    let codes = sqlx::query(
        "DELETE FROM oauth_code WHERE hash = ANY(ARRAY(
             SELECT hash FROM oauth_code
             WHERE subject = $1 AND redeemed IS NULL AND client_id = $2
             ORDER BY hash FOR UPDATE))",
    );
    let codes = codes.bind(subject.as_str()).bind(client_id.as_str());
    let codes = codes.execute(&mut *transaction).await?.rows_affected();
    let families = end.bind(
        sqlx::query_scalar(revoke_families!("subject = $5 AND client_id = $6")),
        &[],
    );
    let families = families.bind(subject.as_str()).bind(client_id.as_str());
    let families = families.fetch_one(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(Revoked {
        families: number(families)?,
        codes,
        ..Revoked::default()
    })
}

/// Uses up a reset token, and ends all sessions and grants of its subject.
pub(super) async fn by_reset_token(
    pool: &PgPool,
    hash: &TokenHash,
    end: &End,
) -> Result<ResetOutcome, DatabaseError> {
    let token = reset_token::load(pool, hash).await?;
    let subject = match ResetOutcome::decide(token.as_ref(), end.now) {
        Ok(subject) => subject.clone(),
        Err(refused) => return Ok(refused),
    };
    let mut transaction = subject::begin_alone(pool, &subject).await?;
    // another transaction may have used it before the lock
    if reset_token::load(&mut *transaction, hash).await?.is_none() {
        return Ok(ResetOutcome::NotFound);
    }
    // this deletes the token too
    let revoked = everything_on(&mut transaction, &subject, None, end).await?;
    transaction.commit().await?;
    Ok(ResetOutcome::Redeemed { subject, revoked })
}

async fn everything_on(
    connection: &mut PgConnection,
    subject: &Subject,
    keep: Option<&SessionId>,
    end: &End,
) -> Result<Revoked, DatabaseError> {
    let mut revoked = Revoked::default();
    let sessions = row::lock_active_of(connection, subject, end.now).await?;
    let sessions = sessions.into_iter().filter(|session| Some(&session.id) != keep);
    let ended = end.sessions(connection, sessions).await?;
    revoked.sessions = ended.len() as u64;
    let kept = keep.map(SessionId::as_bytes);
    let codes = sqlx::query(
        "DELETE FROM oauth_code WHERE hash = ANY(ARRAY(
             SELECT hash FROM oauth_code
             WHERE subject = $1 AND redeemed IS NULL AND ($2 IS NULL OR session IS DISTINCT FROM $2)
             ORDER BY hash FOR UPDATE))",
    );
    let codes = codes.bind(subject.as_str()).bind(kept);
    revoked.codes = codes.execute(&mut *connection).await?.rows_affected();
    let condition = revoke_families!("subject = $5 AND ($6 IS NULL OR session IS DISTINCT FROM $6)");
    let families = end.bind(sqlx::query_scalar(condition), &ended);
    let families = families.bind(subject.as_str()).bind(kept);
    revoked.families = number(families.fetch_one(&mut *connection).await?)?;
    let reset_tokens = sqlx::query("DELETE FROM oauth_reset_token WHERE subject = $1").bind(subject.as_str());
    revoked.reset_tokens = reset_tokens.execute(connection).await?.rows_affected();
    Ok(revoked)
}
