//! Loaders under stress: many keys, wake-ups from other threads, dropped futures, failing and
//! panicking batches.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use futures_util::future::{Either, FutureExt as _, join_all, select};
use tokio::sync::oneshot;

use super::{Batch, Driven, Loaders, SelectiveBatch, drive};
use crate::error::GraphError;
use crate::look_ahead::{FieldRef, FieldSet, Selectable};

/// Thread that wakes waiting futures, the last received first.
#[derive(Clone)]
struct Elsewhere(Sender<oneshot::Sender<()>>);

impl Elsewhere {
    fn new() -> Self {
        let (sender, receiver) = mpsc::channel::<oneshot::Sender<()>>();
        thread::spawn(move || {
            let mut held = Vec::new();
            while let Ok(first) = receiver.recv() {
                held.push(first);
                held.extend(receiver.try_iter());
                while let Some(last) = held.pop() {
                    // a dropped future no longer receives
                    let _ = last.send(());
                }
            }
        });
        Self(sender)
    }

    async fn wakes(&self, times: u32) {
        for _ in 0..times {
            let (sender, receiver) = oneshot::channel();
            self.0.send(sender).unwrap();
            receiver.await.unwrap();
        }
    }
}

/// Batch that fails for certain keys and waits for another thread.
struct Squares {
    elsewhere: Elsewhere,
    batches: Arc<Mutex<Vec<Vec<u32>>>>,
}

const FAILS: u32 = 1_000_000;
const PANICS_ONCE: u32 = 1_000_001;
const ABSENT: u32 = 1_000_002;

impl Batch for Squares {
    type Key = u32;
    type Value = u64;

    async fn load(&self, keys: Vec<u32>) -> Result<HashMap<u32, u64>, GraphError> {
        let before = {
            let mut batches = self.batches.lock().unwrap();
            let before = batches
                .iter()
                .flatten()
                .filter(|key| **key == PANICS_ONCE)
                .count();
            batches.push(keys.clone());
            before
        };
        self.elsewhere.wakes(u32::try_from(keys.len() % 3).unwrap()).await;
        assert!(!keys.contains(&PANICS_ONCE) || before > 0, "the store fell over");
        if keys.contains(&FAILS) {
            return Err(GraphError::conflict("no batch"));
        }
        let squared = |key: u32| (key, u64::from(key) * u64::from(key));
        Ok(keys
            .into_iter()
            .filter(|key| *key != ABSENT)
            .map(squared)
            .collect())
    }
}

struct World {
    loaders: Loaders,
    elsewhere: Elsewhere,
    batches: Arc<Mutex<Vec<Vec<u32>>>>,
}

impl World {
    fn new() -> Self {
        let (elsewhere, batches) = (Elsewhere::new(), Arc::default());
        let mut loaders = Loaders::default();
        loaders.add(Squares {
            elsewhere: elsewhere.clone(),
            batches: Arc::clone(&batches),
        });
        Self {
            loaders,
            elsewhere,
            batches,
        }
    }

    async fn square(&self, key: u32) -> Result<Option<u64>, GraphError> {
        self.loaders.load::<Squares>(key).await
    }

    async fn drive<T>(&self, operation: impl Future<Output = T> + Send) -> T {
        let driven = Driven {
            loaders: &self.loaders,
            has_spans: false,
        };
        let driven = drive(operation, driven, None);
        let driven = tokio::time::timeout(Duration::from_secs(60), driven).await;
        driven.expect("no wake-up is lost").unwrap()
    }
}

fn mix(number: u32) -> u32 {
    let word = number.wrapping_mul(0x9e37_79b9).wrapping_add(0x6d2b_79f5);
    let word = (word ^ (word >> 15)).wrapping_mul(0x2c1b_3c6d);
    word ^ (word >> 12)
}

/// G8: thousands of keys requested at random times are each loaded exactly once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_are_asked_for_at_any_moment_are_loaded_once() {
    let world = World::new();
    let asked = (0..3_000).map(|number| {
        let world = &world;
        async move {
            world.elsewhere.wakes(mix(number) % 3).await;
            let first = mix(number) % 700;
            assert_eq!(world.square(first).await.unwrap(), Some(u64::from(first).pow(2)));
            world.elsewhere.wakes(mix(number) % 2).await;
            let second = 700 + mix(first) % 700;
            assert_eq!(
                world.square(second).await.unwrap(),
                Some(u64::from(second).pow(2))
            );
            assert_eq!(world.square(ABSENT).await.unwrap(), None);
        }
    });
    world.drive(join_all(asked)).await;
    let batches = world.batches.lock().unwrap();
    let loaded: Vec<_> = batches.iter().flatten().collect();
    assert!(batches.iter().all(|keys| !keys.is_empty()));
    assert_eq!(loaded.iter().collect::<HashSet<_>>().len(), loaded.len());
}

/// G8: a dropped load does not block other resolvers that requested the same key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn abandoned_load_does_not_stall_the_rest() {
    for round in 0..20 {
        let world = World::new();
        let asked = (0..400).map(|number| {
            let world = &world;
            async move {
                let key = mix(number + round) % 90;
                let load = std::pin::pin!(world.square(key));
                if number % 2 == 0 {
                    // dropped while waiting or after its value arrived, whichever is first
                    let gone = std::pin::pin!(world.elsewhere.wakes(mix(number) % 3));
                    if let Either::Left((value, _)) = select(load, gone).await {
                        assert_eq!(value.unwrap(), Some(u64::from(key).pow(2)));
                    }
                } else {
                    assert_eq!(load.await.unwrap(), Some(u64::from(key).pow(2)));
                }
            }
        });
        world.drive(join_all(asked)).await;
    }
}

/// G8: the error of a batch applies to its own keys for the life of the context, and to no others.
#[tokio::test]
async fn a_failed_batch_leaves_the_next_one_alone() {
    let world = World::new();
    let failed = world
        .drive(join_all([1, FAILS, 2].map(|key| world.square(key))))
        .await;
    assert!(failed.iter().all(Result::is_err), "{failed:?}");
    let next = world
        .drive(join_all([3, FAILS, 1].map(|key| world.square(key))))
        .await;
    let next: Vec<_> = next.into_iter().map(Result::ok).collect();
    assert_eq!(next, [Some(Some(9)), None, None]);
    assert_eq!(*world.batches.lock().unwrap(), [vec![1, FAILS, 2], vec![3]]);
}

/// G8, G19: a panicking batch fails its operation; the next operation of the context loads the keys
/// again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panicking_batch_takes_no_key_with_it() {
    let world = World::new();
    let asked = || join_all([1, PANICS_ONCE, 2].map(|key| world.square(key)));
    let panicked = AssertUnwindSafe(world.drive(asked())).catch_unwind().await;
    assert!(panicked.is_err());
    let values = world.drive(asked()).await;
    assert!(values.iter().all(Result::is_ok), "{values:?}");
    assert_eq!(world.batches.lock().unwrap().len(), 2);
}

/// G8: dropped operations do not block other operations of the same context.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn dropped_operations_do_not_stall_others_of_their_context() {
    for round in 0..20 {
        let world = Arc::new(World::new());
        let operations: Vec<_> = (0..12_u32)
            .map(|operation| {
                let world = Arc::clone(&world);
                tokio::spawn(async move {
                    let keys = (0..50).map(|number| mix(number * 7 + operation % 3 + round) % 120);
                    let world = &world;
                    let asked = join_all(keys.map(|key| async move {
                        world.elsewhere.wakes(key % 3).await;
                        (key, world.square(key).await)
                    }));
                    for (key, value) in world.drive(asked).await {
                        assert_eq!(value.unwrap(), Some(u64::from(key).pow(2)));
                    }
                })
            })
            .collect();
        for (operation, number) in operations.into_iter().zip(0..) {
            if number % 2 == 0 {
                operation.abort();
            } else {
                operation.await.unwrap();
            }
        }
    }
}

struct Row;

struct Columns {
    first: FieldRef<Row, (), ()>,
    second: FieldRef<Row, (), ()>,
}

impl Selectable for Row {
    type Fields = Columns;
    const FIELDS: Columns = Columns {
        first: FieldRef::new(0),
        second: FieldRef::new(1),
    };
    const NAME: &'static str = "Row";
    const NAMES: &'static [&'static str] = &["first", "second"];
}

/// Batch of rows, whose first run waits for the test. Values are the names of the fields.
struct Rows {
    first_run: Mutex<Option<oneshot::Receiver<()>>>,
    batches: Arc<Mutex<Vec<Vec<u32>>>>,
}

impl SelectiveBatch for Rows {
    type Key = u32;
    type Value = String;
    type Object = Row;

    async fn load(&self, keys: Vec<u32>, fields: FieldSet<Row>) -> Result<HashMap<u32, String>, GraphError> {
        self.batches.lock().unwrap().push(keys.clone());
        let waits = self.first_run.lock().unwrap().take();
        if let Some(waits) = waits {
            waits.await.unwrap();
        }
        let names: Vec<_> = fields.names().collect();
        Ok(keys.into_iter().map(|key| (key, names.join(" "))).collect())
    }
}

/// G8, G23: a key that is queued once more after the end of another operation, and whose value then
/// lacks a field, stands once in its batch.
#[tokio::test]
async fn value_that_lacks_a_field_is_queued_once() {
    let (first_run, waits) = oneshot::channel();
    let batches = Arc::default();
    let mut loaders = Loaders::default();
    loaders.add_selective(Rows {
        first_run: Mutex::new(Some(waits)),
        batches: Arc::clone(&batches),
    });
    let (mut first, mut second) = (FieldSet::<Row>::default(), FieldSet::<Row>::default());
    first.insert(|row| row.first);
    second.insert(|row| row.second);

    let driven = Driven {
        loaders: &loaders,
        has_spans: false,
    };
    let mut other = Box::pin(drive(std::future::pending::<()>(), driven, None));
    assert!((&mut other).now_or_never().is_none());
    let asked = async {
        let narrow = loaders.load_fields::<Rows>(7, first).await;
        let wide = loaders.load_fields::<Rows>(7, second).await;
        (narrow.unwrap(), wide.unwrap())
    };
    let mut operation = Box::pin(drive(asked, driven, None));
    assert!((&mut operation).now_or_never().is_none());
    drop(other);
    first_run.send(()).unwrap();
    let (narrow, wide) = operation.await.unwrap();
    assert_eq!(narrow.as_deref(), Some("first"));
    assert_eq!(wide.as_deref(), Some("first second"));
    assert_eq!(*batches.lock().unwrap(), [[7], [7]]);
}
