//! Ctrl-C: the first asks the program to end, the second ends it.

use std::time::Duration;

use tokio::{signal::ctrl_c, time::timeout};

use crate::show;

/// What a shell says of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Completes at the first Ctrl-C; the second ends the program, whatever it still waits for.
pub(crate) async fn first() {
    if ctrl_c().await.is_err() {
        // nobody listens for it, so that the system ends the program as it does any other
        return std::future::pending().await;
    }
    let mut second = Box::pin(ctrl_c());
    // polled once here, so that the second is heard from now on and not only when its task gets a turn
    timeout(Duration::ZERO, &mut second).await.ok();
    tokio::spawn(async {
        if second.await.is_ok() {
            std::process::exit(INTERRUPTED);
        }
    });
    show::complaint("ending what has begun; Ctrl-C again ends at once");
}
