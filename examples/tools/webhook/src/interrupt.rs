//! Ctrl-C: the first one asks the program to end, the second one ends it.

use std::time::Duration;

use tokio::{signal::ctrl_c, time::timeout};

use crate::show;

/// Exit code that a shell reports for an interrupted program.
const INTERRUPTED: i32 = 130;

/// Completes at the first Ctrl-C. The second one ends the program at once.
pub(crate) async fn first() {
    if ctrl_c().await.is_err() {
        // no handler could be installed, so the system ends the program
        return std::future::pending().await;
    }
    let mut second = Box::pin(ctrl_c());
    // polled once, so that the second Ctrl-C is registered at once
    timeout(Duration::ZERO, &mut second).await.ok();
    tokio::spawn(async {
        if second.await.is_ok() {
            std::process::exit(INTERRUPTED);
        }
    });
    show::complaint("finishing open requests; press Ctrl-C again to end at once");
}
