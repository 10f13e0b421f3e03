//! Claims of received events (W7), their queue (W8) and its dead letters (W26).
//!
//! One script claims and queues, so an event is claimed and queued, or neither. A duplicate is
//! therefore acknowledged only after its first copy is queued.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use redis::{Script, ScriptInvocation};
use webhook_core::ports::StoreError;
use webhook_core::receiver::{
    Buried, BuriedQuery, Claim, Dedupe, EventKey, Finish, Inbox, Incoming, Queued, Ticket,
};

use crate::database::{Database, DatabaseError};
use crate::instant::{digits, keep, time_of};
use crate::script::run;

static CLAIM: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/claim.lua")));
static TAKE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/take.lua")));
static FINISH: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/finish.lua")));
static RETRY: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/retry_event.lua")));
static BURY: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/bury.lua")));
static BURIED: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/buried.lua")));
static UNBURY: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/unbury.lua")));

#[async_trait]
impl Dedupe for Database {
    async fn claim_and_enqueue(&self, event: Incoming, now: SystemTime) -> Result<Claim, StoreError> {
        let name = name(&event.key);
        let mut claim = CLAIM.key([self.key("claim:").as_bytes(), &name].concat());
        for key in ["arrivals", "free", "names", "bodies"] {
            claim.key(self.key(key));
        }
        claim
            .arg(digits(now))
            .arg(digits(event.expires_at))
            .arg(keep(event.expires_at, now))
            .arg(&event.digest.as_bytes()[..])
            .arg(name)
            .arg(&event.body[..]);
        let claim = self.run(|mut connection| async move {
            match run(&claim, &mut connection).await? {
                0 => Ok(Claim::Enqueued),
                1 => Ok(Claim::Duplicate),
                2 => Ok(Claim::Conflict),
                other => Err(DatabaseError::corrupt(format!("unexpected result {other}"))),
            }
        });
        Ok(claim.await?)
    }
}

#[async_trait]
impl Inbox for Database {
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let until = now.checked_add(lease).unwrap_or(now);
        let mut take = self.on_queue(&TAKE);
        take.key(self.key("unreadable"));
        take.arg(digits(now))
            .arg(digits(until))
            .arg(u32::try_from(limit).unwrap_or(u32::MAX));
        let taken = self.run(|mut connection| async move {
            let taken: Vec<(Vec<u8>, u64, Vec<u8>, u32)> = run(&take, &mut connection).await?;
            readable(taken.into_iter().map(queued))
        });
        Ok(taken.await?)
    }

    async fn finish(&self, ticket: &Ticket) -> Result<Finish, StoreError> {
        let mut finish = self.on_queue(&FINISH);
        finish.arg(ticket.lease).arg(name(&ticket.key));
        self.end(finish).await
    }

    async fn retry_at(&self, ticket: &Ticket, at: SystemTime) -> Result<Finish, StoreError> {
        let mut retry = self.on_queue(&RETRY);
        retry.arg(ticket.lease).arg(name(&ticket.key)).arg(digits(at));
        self.end(retry).await
    }

    async fn bury(&self, ticket: &Ticket, reason: &str, now: SystemTime) -> Result<Finish, StoreError> {
        let mut bury = self.on_queue(&BURY);
        bury.key(self.key("buried")).key(self.key("dead-letters"));
        bury.arg(ticket.lease)
            .arg(name(&ticket.key))
            .arg(Buried::kept_reason(reason))
            .arg(digits(now));
        self.end(bury).await
    }

    async fn buried(&self, query: &BuriedQuery) -> Result<Vec<Buried>, StoreError> {
        let mut buried = BURIED.key(self.key("buried"));
        buried.key(self.key("dead-letters"));
        let source = query.source.as_deref();
        buried
            .arg(query.after.map_or(-1, u64::cast_signed))
            .arg(source.map(prefix).unwrap_or_default())
            .arg(u32::try_from(query.limit).unwrap_or(u32::MAX));
        let found = self.run(|mut connection| async move {
            let found: Vec<Letter> = run(&buried, &mut connection).await?;
            found.into_iter().map(letter).collect::<Result<_, _>>()
        });
        Ok(found.await?)
    }

    async fn replay_buried(&self, number: u64) -> Result<bool, StoreError> {
        self.unbury(number, true).await
    }

    async fn discard_buried(&self, number: u64) -> Result<bool, StoreError> {
        self.unbury(number, false).await
    }
}

/// Number, name, body, takes, reason and time of a dead letter.
type Letter = (u64, Vec<u8>, Vec<u8>, u32, String, String);

fn letter((number, name, body, attempts, reason, at): Letter) -> Result<Buried, DatabaseError> {
    let key = key_of(name).ok_or_else(|| DatabaseError::corrupt("not the name of an event"))?;
    let buried_at = time_of(&at).ok_or_else(|| DatabaseError::corrupt("not a time"))?;
    Ok(Buried {
        number,
        key,
        body: Bytes::from(body),
        attempts,
        reason,
        buried_at,
    })
}

impl Database {
    /// Runs a script that ends a lease.
    async fn end(&self, script: ScriptInvocation<'static>) -> Result<Finish, StoreError> {
        let ended = self.run(|mut connection| async move {
            let done: bool = run(&script, &mut connection).await?;
            Ok(if done { Finish::Done } else { Finish::Stale })
        });
        Ok(ended.await?)
    }

    async fn unbury(&self, number: u64, is_replayed: bool) -> Result<bool, StoreError> {
        let mut unbury = UNBURY.key(self.key("buried"));
        for key in ["dead-letters", "arrivals", "free", "names", "bodies"] {
            unbury.key(self.key(key));
        }
        unbury.arg(number).arg(u8::from(is_replayed));
        let done = self.run(|mut connection| async move { run(&unbury, &mut connection).await });
        Ok(done.await?)
    }

    fn on_queue(&self, script: &'static Script) -> ScriptInvocation<'static> {
        let mut invocation = script.prepare_invoke();
        for key in [
            "free",
            "leased",
            "tickets",
            "leases",
            "last-lease",
            "names",
            "bodies",
        ] {
            invocation.key(self.key(key));
        }
        invocation
    }
}

/// Encodes an event's key as one text. It begins with the length of the source, so that no two keys
/// are equal.
pub(crate) fn name(key: &EventKey) -> Vec<u8> {
    (prefix(&key.source) + key.id.as_str()).into_bytes()
}

/// Beginning of the names of a source.
fn prefix(source: &str) -> String {
    format!("{}:{source}:", source.len())
}

fn key_of(name: Vec<u8>) -> Option<EventKey> {
    let name = String::from_utf8(name).ok()?;
    let (length, rest) = name.split_once(':')?;
    let (source, id) = rest.split_at_checked(length.parse().ok()?)?;
    Some(EventKey {
        source: source.to_owned(),
        id: id.strip_prefix(':')?.parse().ok()?,
    })
}

fn queued((name, lease, body, attempt): (Vec<u8>, u64, Vec<u8>, u32)) -> Result<Queued, DatabaseError> {
    let key = key_of(name).ok_or_else(|| DatabaseError::corrupt("not the name of an event"))?;
    Ok(Queued {
        ticket: Ticket { key, lease },
        body: Bytes::from(body),
        attempt,
    })
}

/// The readable ones. An unreadable event is an error only if it is alone.
fn readable<T>(taken: impl Iterator<Item = Result<T, DatabaseError>>) -> Result<Vec<T>, DatabaseError> {
    let (mut read, mut error) = (Vec::new(), None);
    for event in taken {
        match event {
            Ok(event) => read.push(event),
            Err(unreadable) => error = Some(unreadable),
        }
    }
    error.filter(|_| read.is_empty()).map_or(Ok(read), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_key_and_to_no_other() {
        for source in ["", ":", "1:", "a:b:c", "\0", "ß"] {
            let key = EventKey {
                source: source.to_owned(),
                id: "1:e".parse().unwrap(),
            };
            assert_eq!(key_of(name(&key)), Some(key));
        }
        for foreign in [
            "", "1", "1:", "2:ß:", "9:s:e", "1:s:", "1:sxe", "x:s:e", "1:s:e.e",
        ] {
            assert_eq!(key_of(foreign.into()), None, "{foreign}");
        }
        assert_eq!(key_of(vec![b'1', b':', 0xff]), None);
    }
}
