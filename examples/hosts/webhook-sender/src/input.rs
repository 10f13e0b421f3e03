//! Charges from standard input.

use std::io::stdin;
use std::sync::Arc;
use std::thread;

use tokio::sync::{Notify, mpsc};

use crate::deliver::{complain, say};
use crate::shop::Shop;

/// Stores a charge for each line with an amount, and wakes the dispatcher.
///
/// A charge that cannot be stored is reported to standard error.
pub(crate) async fn book_lines(shop: impl Shop, wake: Arc<Notify>) {
    let mut lines = read_lines();
    while let Some(line) = lines.recv().await {
        let booked = match line.trim().parse() {
            Ok(amount) => shop.book(amount).await,
            Err(invalid) => Err(format!("`{}` is no amount: {invalid}", line.trim()).into()),
        };
        match booked {
            Ok(id) => {
                say(&format!("stored {id}"));
                wake.notify_one();
            }
            Err(error) => complain(&format!("charge not stored: {}", program::in_one_line(&*error))),
        }
    }
}

/// Reads on a thread of its own, because the end of the program does not wait for it.
fn read_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    thread::spawn(move || {
        for line in stdin().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
