//! Errors of the ports when the server is away or its keys were changed.

use std::error::Error;

use host_store_redis::{Database, DatabaseError, DatabaseErrorKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use webhook_core::ports::StoreErrorKind;
use webhook_core::receiver::{Claim, Dedupe, Finish, Inbox, LatestSeen, Position, ResourceKey};

use crate::server::{Wire, prefix};
use crate::support::{LEASE, START, incoming};

#[tokio::test]
async fn a_server_that_is_not_there_is_reported_as_unavailable() {
    let error = Database::connect("redis://127.0.0.1:1", "x").await.unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Unavailable);
    let error = Database::connect("http://127.0.0.1", "x").await.unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Failed);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_made_anew() {
    let prefix = prefix!();
    let wire = Wire::laid().await;
    let database = prefix.database_at(&wire.url()).await;
    database
        .claim_and_enqueue(incoming(0, START + LEASE), START)
        .await
        .unwrap();
    wire.cut();
    // the verb that finds the broken connection fails and may be retried; later ones have a new one
    let mut claimed = database
        .claim_and_enqueue(incoming(1, START + LEASE), START)
        .await;
    if let Err(error) = &claimed {
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        claimed = database
            .claim_and_enqueue(incoming(1, START + LEASE), START)
            .await;
    }
    assert_eq!(claimed.unwrap(), Claim::Enqueued);
}

/// W7: an unreadable claim is neither a duplicate nor overwritten.
#[tokio::test]
async fn a_claim_that_cannot_be_read_is_reported_as_corrupt() {
    let prefix = prefix!();
    let database = prefix.database().await;
    let no_time = "a digest of thirty-two bytes, andno digits in this X";
    for broken in [
        &["SET", "short"][..],
        &["SET", no_time],
        &["RPUSH", "another type"],
    ] {
        let () = prefix.raw(broken[0], "claim:4:peer:evt_1", &broken[1..]);
        for _ in 0..2 {
            let error = database
                .claim_and_enqueue(incoming(1, START + LEASE), START)
                .await
                .unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{broken:?}");
        }
        let () = prefix.raw("DEL", "claim:4:peer:evt_1", &[]);
    }
    assert_eq!(database.take(1, START, LEASE).await.unwrap(), []);
}

#[tokio::test]
async fn an_arrival_that_cannot_be_read_is_reported_as_corrupt() {
    let prefix = prefix!();
    let database = prefix.database().await;
    for number in 1..=3 {
        database
            .claim_and_enqueue(incoming(number, START + LEASE), START)
            .await
            .unwrap();
    }
    let taken = database.take(3, START, LEASE).await.unwrap();
    let () = prefix.raw("HSET", "leases", &["1", "no lease"]);
    let error = database.finish(&taken[0].ticket).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    let () = prefix.raw("HDEL", "bodies", &["2"]);
    let () = prefix.raw("HSET", "names", &["3", "no name"]);
    for now in [START + LEASE, START + LEASE * 2] {
        let error = database.take(3, now, LEASE).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    }
    assert_eq!(database.finish(&taken[2].ticket).await.unwrap(), Finish::Stale);
    let mut unreadable: Vec<String> = prefix.raw("SMEMBERS", "unreadable", &[]);
    unreadable.sort();
    assert_eq!(unreadable, ["1", "2"], "kept for inspection");
}

/// W8: an unreadable arrival does not stop later ones.
#[tokio::test]
async fn unreadable_arrival_stops_no_other() {
    let prefix = prefix!();
    let database = prefix.database().await;
    for number in 1..=3 {
        database
            .claim_and_enqueue(incoming(number, START + LEASE), START)
            .await
            .unwrap();
    }
    let () = prefix.raw("HDEL", "bodies", &["1"]);
    let () = prefix.raw("HSET", "names", &["2", "no name"]);
    let taken = database.take(3, START, LEASE).await.unwrap();
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].ticket.key, incoming(3, START).key);
}

/// X5: a prefix that could share keys with another one, or leave its slot, is refused.
#[tokio::test]
async fn a_prefix_with_braces_is_refused() {
    for prefix in ["", "{", "}", "a}:claim:4:peer:{x"] {
        let error = Database::connect("redis://127.0.0.1:1", prefix)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), DatabaseErrorKind::Failed, "{prefix:?}");
    }
}

/// X5: if the server quotes a refused command, the error shows neither the password nor a body.
#[tokio::test]
async fn no_error_shows_a_secret() {
    let quote = "-ERR unknown command, with args beginning with: 'hunter2' '{}'\r\n";
    let database = Database::connect(&parrot(quote, quote).await, "x").await;
    let mut errors = vec![database.unwrap_err()];
    for (answer, kind) in [
        (quote, DatabaseErrorKind::Failed),
        ("$7\r\nhunter2\r\n", DatabaseErrorKind::Corrupt),
        ("*1\r\n$7\r\nhunter2\r\n", DatabaseErrorKind::Corrupt),
    ] {
        let database = Database::connect(&parrot("+OK\r\n", answer).await, "x")
            .await
            .unwrap();
        let refused = database
            .claim_and_enqueue(incoming(1, START + LEASE), START)
            .await
            .unwrap_err();
        let refused = refused.source().unwrap().downcast_ref::<DatabaseError>();
        let refused = refused.unwrap().clone();
        assert_eq!(refused.kind(), kind, "{answer}");
        errors.push(refused);
    }
    for error in errors {
        let cause = error.source().unwrap();
        let told = format!("{error} {error:?} {cause} {cause:?}");
        assert!(!told.contains("hunter2") && !told.contains("{}"), "{told}");
    }
}

/// A server with one answer to the commands of a new connection and another to each script.
async fn parrot(welcome: &'static str, answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = vec![0; 64 * 1024];
                while let Ok(read) = client.read(&mut buffer).await {
                    let asked = String::from_utf8_lossy(buffer.get(..read).unwrap()).into_owned();
                    // a command is an array at the beginning of a line
                    let commands = asked.split("\r\n").filter(|line| line.starts_with('*')).count();
                    let answers = if asked.contains("EVALSHA") {
                        answer.to_owned()
                    } else {
                        welcome.repeat(commands)
                    };
                    if read == 0 || client.write_all(answers.as_bytes()).await.is_err() {
                        break;
                    }
                }
            });
        }
    });
    format!("redis://:hunter2@127.0.0.1:{port}")
}

#[tokio::test]
async fn a_position_that_cannot_be_read_is_reported_as_corrupt() {
    let prefix = prefix!();
    let database = prefix.database().await;
    let charge = ResourceKey {
        source: "peer".to_owned(),
        resource: "ch_1".parse().unwrap(),
    };
    for broken in ["7", "-0000000000000000007", ""] {
        let () = prefix.raw("SET", "latest:4:peer:ch_1", &[broken]);
        let error = database.advance(&charge, Position::from(9)).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{broken}");
    }
}
