//! Futures that other threads wake in a pseudo-random order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use juniper::OperationType;
use tokio::sync::oneshot;

use super::PendingFields;
use crate::executor::gate::Gate;
use crate::executor::plan::Plan;
use crate::executor::{BoxFuture, Execution, ListIndices, Meter, NullPropagation, Segment, SegmentResult};
use crate::guard::Watch;
use crate::guard::demand::Policies;

/// Widths below and above the limit of joint polls.
const WIDTHS: [u32; 4] = [1, 5, 9, 40];

fn plan() -> Plan {
    Plan {
        resolvers: Box::default(),
        kind: OperationType::Query,
        fields: [].into(),
        metas: Box::default(),
        policies: Policies::default(),
        faults: Box::default(),
        slots: Box::default(),
        places: Box::default(),
        has_async: true,
        deferred: Box::default(),
        fragments: Box::default(),
        size_hint: AtomicUsize::new(0),
    }
}

fn mix(seed: u32, number: u32) -> u32 {
    let word = (seed ^ number.wrapping_mul(0x9e37_79b9)).wrapping_add(0x6d2b_79f5);
    let word = (word ^ (word >> 15)).wrapping_mul(0x2c1b_3c6d);
    word ^ (word >> 12)
}

/// Thread that completes the received futures in mixed order, mostly the last received first.
fn completer() -> Sender<oneshot::Sender<()>> {
    let (sender, receiver): (_, Receiver<oneshot::Sender<()>>) = mpsc::channel();
    thread::spawn(move || {
        let mut held = Vec::new();
        while let Ok(first) = receiver.recv() {
            held.push(first);
            held.extend(receiver.try_iter());
            while let Some(last) = held.pop() {
                // a cancelled future has dropped its receiver
                let _ = last.send(());
                held.extend(receiver.try_iter().take(2));
            }
        }
    });
    sender
}

/// State shared by the futures of one run.
struct World {
    completers: Vec<Sender<oneshot::Sender<()>>>,
    running: AtomicUsize,
    most: AtomicUsize,
}

impl World {
    fn new() -> Self {
        Self {
            completers: (0..3).map(|_| completer()).collect(),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        }
    }

    /// Completes after other threads have woken it as often as the seed determines.
    async fn resolve(&self, seed: u32) {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        let _running = Running(&self.running);
        for time in 0..seed % 3 {
            let (sender, receiver) = oneshot::channel();
            let completer = usize::try_from(mix(seed, time)).unwrap() % self.completers.len();
            self.completers[completer].send(sender).unwrap();
            receiver.await.unwrap();
        }
    }
}

/// Counts a resolver that runs until it ends or is dropped.
struct Running<'w>(&'w AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn fails(seed: u32) -> bool {
    seed.is_multiple_of(37)
}

fn width(seed: u32, depth: u32) -> u32 {
    if depth == 0 {
        0
    } else {
        WIDTHS[usize::try_from(seed % 4).unwrap()]
    }
}

/// Nested lists. A separate future writes each inner list, and every third list is nullable.
fn list<'p>(cx: &'p Execution<'p, World>, seed: u32, depth: u32) -> BoxFuture<'p, SegmentResult> {
    Box::pin(async move {
        let permit = cx.enter().await;
        cx.context().resolve(seed).await;
        drop(permit);
        if fails(seed) {
            return Err(NullPropagation);
        }
        let (mut seg, mut pend) = (Segment::default(), PendingFields::default());
        seg.buf.extend_from_slice(format!("[{seed}").as_bytes());
        for number in 0..width(seed, depth) {
            seg.buf.push(b',');
            let mark = (number % 3 == 0).then(|| seg.begin());
            seg.buf.push(b'{');
            let hole = seg.leave(false, 0, ListIndices::ROOT);
            pend.push(hole, list(cx, mix(seed, number), depth - 1));
            seg.buf.push(b'}');
            if let Some(mark) = mark {
                seg.end(mark);
            }
        }
        seg.buf.push(b']');
        pend.run(&mut seg, cx).await?;
        Ok(seg)
    })
}

fn expected(seed: u32, depth: u32) -> Result<String, NullPropagation> {
    if fails(seed) {
        return Err(NullPropagation);
    }
    let mut text = format!("[{seed}");
    for number in 0..width(seed, depth) {
        let inner = expected(mix(seed, number), depth - 1).map(|inner| format!("{{{inner}}}"));
        let is_nullable = number % 3 == 0;
        let inner = if is_nullable {
            inner.unwrap_or("null".to_owned())
        } else {
            inner?
        };
        text.push(',');
        text.push_str(&inner);
    }
    text.push(']');
    Ok(text)
}

/// Runs the lists of a seed and returns the maximum number of concurrent resolvers.
async fn run(seed: u32, places: Option<usize>) -> usize {
    let (world, plan) = (World::new(), plan());
    let meter = Meter::new(usize::MAX);
    let cx = Execution::new(&world, &plan, places.map(Gate::new), Watch::default(), meter);
    let done = tokio::time::timeout(Duration::from_secs(60), list(&cx, seed, 2)).await;
    let text = done
        .expect("no wake-up is lost")
        .map(|seg| String::from_utf8(seg.into_bytes()).unwrap());
    assert_eq!(text.ok(), expected(seed, 2).ok(), "seed {seed}");
    drop(cx);
    assert_eq!(
        world.running.load(Ordering::SeqCst),
        0,
        "nothing outlives the answer"
    );
    world.most.load(Ordering::SeqCst)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn futures_that_other_threads_wake_fill_their_holes() {
    for seed in 0..300 {
        run(seed, None).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrency_limit_is_kept_and_all_resolvers_end() {
    for (seed, places) in (0..300).zip([1, 2, 7, 50].into_iter().cycle()) {
        assert!(run(seed, Some(places)).await <= places);
    }
}
