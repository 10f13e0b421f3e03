//! The wait of an asynchronous field.

use std::future::poll_fn;
use std::task::Poll;

/// Is pending once and wakes itself.
pub(crate) async fn pause() {
    let mut is_over = false;
    poll_fn(|cx| {
        if is_over {
            return Poll::Ready(());
        }
        is_over = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
