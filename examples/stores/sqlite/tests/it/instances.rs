//! Dispatchers of several processes on one file (W29).

use std::time::{Duration, SystemTime};

use host_store_sqlite::Database;
use webhook_core::sender::{
    Audience, Delivery, DeliveryId, Enqueue, InstanceId, LeaseRequest, Leased, Outbox, StoredEvent,
};

const START: SystemTime = SystemTime::UNIX_EPOCH;

async fn enqueue(database: &Database) {
    let id = DeliveryId {
        event: "evt_1".parse().unwrap(),
        endpoint: "ep_1".parse().unwrap(),
    };
    let event = StoredEvent {
        id: id.event.clone(),
        event_type: "charge.created".parse().unwrap(),
        audience: Audience::tenant("acme".parse().unwrap()),
        created_at: START,
        body: "{}".into(),
        trace: None,
    };
    let deliveries = vec![Delivery::new(id, START)];
    database.enqueue(Enqueue { event, deliveries }).await.unwrap();
}

async fn lease(database: &Database, owner: InstanceId) -> Vec<Leased> {
    let request = LeaseRequest {
        owner: Some(owner),
        until: LeaseRequest::until_freed(),
        ..LeaseRequest::new(START + Duration::from_secs(1), 9)
    };
    database.lease(&request).await.unwrap().leased
}

async fn join(database: &Database) -> InstanceId {
    database.join().await.unwrap().unwrap()
}

/// W29: the leases of a process that has ended are free when the next one starts; each counts as
/// lost.
#[tokio::test]
async fn ended_process_frees_its_leases_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("outbox");
    let ended = Database::open(&file).unwrap();
    enqueue(&ended).await;
    let owner = join(&ended).await;
    assert_eq!(lease(&ended, owner).await.len(), 1);
    // closing the lock file is what the end of a process does
    drop(ended);
    let next = Database::open(&file).unwrap();
    let owner = join(&next).await;
    let leased = lease(&next, owner).await;
    assert_eq!((leased[0].delivery.fence, leased[0].delivery.crashes), (2, 1));
}

/// W29: a process that runs keeps its leases, and a heartbeat frees those of one that has ended.
#[tokio::test]
async fn running_process_keeps_its_leases() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("outbox");
    let (running, other) = (Database::open(&file).unwrap(), Database::open(&file).unwrap());
    enqueue(&running).await;
    let owner = join(&running).await;
    assert_eq!(lease(&running, owner).await.len(), 1);
    let observer = join(&other).await;
    assert_eq!(other.beat(observer).await.unwrap().len(), 2);
    assert_eq!(lease(&other, observer).await, []);
    drop(running);
    assert_eq!(other.beat(observer).await.unwrap().len(), 1);
    assert_eq!(lease(&other, observer).await.len(), 1);
}

/// W29: an instance that leaves removes its lock file.
#[tokio::test]
async fn stopped_instance_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path().join("outbox")).unwrap();
    let owner = join(&database).await;
    let files = || {
        let names = folder
            .path()
            .read_dir()
            .unwrap()
            .map(|file| file.unwrap().file_name());
        names
            .filter(|name| name.to_string_lossy().contains("dispatcher"))
            .count()
    };
    assert_eq!(files(), 1);
    let stopped = webhook_core::sender::Departure::Stopped;
    database.leave(owner, stopped, START).await.unwrap();
    assert_eq!(files(), 0);
}
