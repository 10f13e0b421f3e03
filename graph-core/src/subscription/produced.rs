//! A stream written as an async block: the block owns what its items borrow from.
//!
//! juniper's streams borrow the document, the schema and the context. An async block can own all three and drive the stream;
//! [`produced`] hands out what the block emits.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::stream::Stream;

/// Where the block puts its items.
pub(crate) struct Emitter<T> {
    slot: Arc<Mutex<Option<T>>>,
}

impl<T> Emitter<T> {
    /// Hands out `item`; goes on when the next one is asked for.
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

/// The stream of what the future of `produce` emits.
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

/// See [`produced`].
pub(crate) struct Produced<T> {
    /// `None` when it has ended.
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
