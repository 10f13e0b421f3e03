//! Stream from an async block that owns the data its items borrow.
//!
//! juniper's streams borrow the document, the schema and the context. An async block owns all three
//! and drives the stream; [`produced`] yields the items that the block emits.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::stream::Stream;

/// Handle through which the async block emits items.
pub(crate) struct Emitter<T> {
    slot: Arc<Mutex<Option<T>>>,
}

impl<T> Emitter<T> {
    /// Yields `item` and resumes at the next poll of the stream.
    pub(crate) async fn emit(&self, item: T) {
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(item);
        let mut handed_out = false;
        poll_fn(|_| {
            if handed_out {
                return Poll::Ready(());
            }
            handed_out = true;
            Poll::Pending
        })
        .await;
    }
}

/// Creates the stream of the items that the future of `produce` emits.
pub(crate) fn produced<T, F>(produce: impl FnOnce(Emitter<T>) -> F) -> Produced<T>
where
    F: Future<Output = ()> + Send + 'static,
{
    let slot = Arc::new(Mutex::new(None));
    let emitter = Emitter {
        slot: Arc::clone(&slot),
    };
    Produced {
        producer: Some(Box::pin(produce(emitter))),
        slot,
    }
}

/// Stream of [`produced`].
pub(crate) struct Produced<T> {
    /// `None` after the end.
    producer: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    slot: Arc<Mutex<Option<T>>>,
}

impl<T> Stream for Produced<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(producer) = &mut self.producer else {
            return Poll::Ready(None);
        };
        let ended = producer.as_mut().poll(cx).is_ready();
        if ended {
            self.producer = None;
        }
        let item = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        match item {
            Some(item) => Poll::Ready(Some(item)),
            None if ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}
