//! Ctrl-C: the first lets the program finish open requests and end, the second ends it at once.

use std::time::Duration;

use tokio::{signal::ctrl_c, time::timeout};

use crate::show;

/// Exit code that a shell reports for an interrupted program.
const INTERRUPTED: i32 = 130;

/// Completes at the first Ctrl-C. A second Ctrl-C ends the program at once, with exit code 130.
pub(crate) async fn first() {
    if ctrl_c().await.is_err() {
        // without a handler, the system ends the program at the first Ctrl-C
        return std::future::pending().await;
    }
    let mut second = Box::pin(ctrl_c());
    // polled once, so that a second Ctrl-C counts from now on
    timeout(Duration::ZERO, &mut second).await.ok();
    tokio::spawn(async {
        if second.await.is_ok() {
            std::process::exit(INTERRUPTED);
        }
    });
    show::complaint("finishing open requests; press Ctrl-C again to end at once");
}
