//! Name resolution.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};

use async_trait::async_trait;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Resolver of names. Any `Fn(&str) -> io::Result<Vec<IpAddr>>` is one, for tests and fixed tables.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// Returns **all** addresses of `name`: an omitted address is not vetted.
    ///
    /// # Errors
    ///
    /// The name has no address, or the name server cannot be reached.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

#[async_trait]
impl<F> Resolve for F
where
    F: Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync,
{
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self(name)
    }
}

/// Limit of concurrent lookups: a quarter of the threads of tokio's blocking pool by default.
static LOOKUPS: Semaphore = Semaphore::const_new(128);

/// The resolver of the operating system.
///
/// # Performance
///
/// A lookup blocks a thread of tokio's blocking pool and cannot be cancelled. A lookup whose
/// exchange timed out keeps its thread until the system gives up, after about 30 seconds if
/// `resolv.conf` names three silent servers. At most 128 lookups run in the process; further
/// lookups wait, within the deadlines of their exchanges. A host whose users register thousands of
/// names should use an asynchronous [`Resolve`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let name = name.to_owned();
        let look_up = move || Ok((name.as_str(), 0).to_socket_addrs()?.map(|at| at.ip()).collect());
        bounded(&LOOKUPS, look_up).await
    }
}

/// Runs a blocking lookup. Its slot is free when it has returned, not when its caller has given up.
async fn bounded<T: Send + 'static>(
    places: &'static Semaphore,
    look_up: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let place = places.acquire().await.map_err(io::Error::other)?;
    let looked_up = spawn_blocking(move || {
        let _place = place;
        look_up()
    });
    looked_up.await?
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::{Arc, Mutex, mpsc};
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_look_up_that_was_given_up_keeps_its_place_until_it_returns() {
        static PLACES: Semaphore = Semaphore::const_new(2);
        let (answer, answers) = mpsc::channel::<()>();
        let answers = Arc::new(Mutex::new(answers));
        for _ in 0..2 {
            let answers = Arc::clone(&answers);
            let silent = bounded(&PLACES, move || {
                answers.lock().unwrap().recv().map_err(io::Error::other)
            });
            assert!(timeout(Duration::from_millis(1), silent).await.is_err());
        }
        let mut next = pin!(bounded(&PLACES, || Ok("an address")));
        assert!(timeout(Duration::from_millis(1), &mut next).await.is_err());
        answer.send(()).unwrap();
        assert_eq!(next.await.unwrap(), "an address");
        answer.send(()).unwrap();
    }

    #[tokio::test]
    async fn the_system_knows_this_machine() {
        let found = SystemResolver.resolve("localhost").await.unwrap();
        assert!(
            !found.is_empty() && found.iter().all(IpAddr::is_loopback),
            "{found:?}"
        );
    }
}
