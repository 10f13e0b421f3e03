//! Log of the attempts (W18).

use bytes::Bytes;
use http::StatusCode;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{PgPool, Postgres};
use webhook_core::sender::{Attempt, AttemptResult, DeliveryId};

use crate::column::{length, nanoseconds, number, span, term, text, time};
use crate::database::DatabaseError;

/// Common table expression that logs each attempt, unless its delivery and fencing token are logged
/// already; with the parameters of [`bind`] after those of the lanes.
macro_rules! log_attempts {
    () => {
        "attempts AS (
             INSERT INTO webhook_attempt
                 (event, endpoint, fence, started_at, duration, status, body, failure, message)
             SELECT * FROM unnest($23::text[], $24::text[], $25::bigint[], $26::bigint[], $27::bigint[],
                                  $28::integer[], $29::bytea[], $30::text[], $31::bytea[])
             ON CONFLICT DO NOTHING
         )"
    };
}
pub(super) use log_attempts;

pub(super) fn bind<'q>(
    query: Query<'q, Postgres, PgArguments>,
    attempts: &[&Attempt],
) -> Query<'q, Postgres, PgArguments> {
    query
        .bind(column(attempts, |attempt| attempt.delivery.event.as_str()))
        .bind(column(attempts, |attempt| attempt.delivery.endpoint.as_str()))
        .bind(column(attempts, |attempt| attempt.fence.cast_signed()))
        .bind(column(attempts, |attempt| nanoseconds(attempt.started_at)))
        .bind(column(attempts, |attempt| span(attempt.duration)))
        .bind(column(attempts, |attempt| {
            answer(attempt).map(|(status, _)| i32::from(status.as_u16()))
        }))
        .bind(column(attempts, |attempt| {
            answer(attempt).map(|(_, body)| &body[..])
        }))
        .bind(column(attempts, |attempt| failure(attempt).map(|(word, _)| word)))
        .bind(column(attempts, |attempt| {
            failure(attempt).map(|(_, message)| message.as_bytes())
        }))
}

fn column<'a, T>(attempts: &[&'a Attempt], of: impl Fn(&'a Attempt) -> T) -> Vec<T> {
    attempts.iter().copied().map(of).collect()
}

fn answer(attempt: &Attempt) -> Option<(StatusCode, &Bytes)> {
    match &attempt.result {
        AttemptResult::Answered { status, body } => Some((*status, body)),
        AttemptResult::Failed { .. } => None,
    }
}

fn failure(attempt: &Attempt) -> Option<(&'static str, &str)> {
    match &attempt.result {
        AttemptResult::Answered { .. } => None,
        AttemptResult::Failed { kind, message } => Some((kind.as_str(), message)),
    }
}

/// Columns in the order of the query.
type Columns = (
    i64,
    i64,
    i64,
    Option<i32>,
    Option<Vec<u8>>,
    Option<String>,
    Option<Vec<u8>>,
);

pub(super) async fn attempts(pool: &PgPool, delivery: &DeliveryId) -> Result<Vec<Attempt>, DatabaseError> {
    let rows: Vec<Columns> = sqlx::query_as(
        "SELECT fence, started_at, duration, status, body, failure, message
         FROM webhook_attempt WHERE event = $1 AND endpoint = $2 ORDER BY fence",
    )
    .bind(delivery.event.as_str())
    .bind(delivery.endpoint.as_str())
    .fetch_all(pool)
    .await?;
    rows.into_iter().map(|row| attempt(delivery, row)).collect()
}

fn attempt(
    delivery: &DeliveryId,
    (fence, started_at, duration, status, body, failure, message): Columns,
) -> Result<Attempt, DatabaseError> {
    let result = match (status, body, failure, message) {
        (Some(status), Some(body), None, None) => AttemptResult::Answered {
            status: StatusCode::from_u16(number(status.into())?).map_err(DatabaseError::corrupt)?,
            body: body.into(),
        },
        (None, None, Some(kind), Some(message)) => AttemptResult::Failed {
            kind: term(&kind)?,
            message: text(message)?,
        },
        _ => return Err(DatabaseError::corrupt("an attempt without exactly one result")),
    };
    Ok(Attempt {
        delivery: delivery.clone(),
        fence: number(fence)?,
        started_at: time(started_at)?,
        duration: length(duration)?,
        result,
    })
}
