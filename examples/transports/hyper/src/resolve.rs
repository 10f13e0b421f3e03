//! From a name to its addresses.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};

use async_trait::async_trait;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Resolves names. Any `Fn(&str) -> io::Result<Vec<IpAddr>>` is a resolver, for tests and for fixed tables.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// **All** addresses of `name`: what is left out is not vetted.
    ///
    /// # Errors
    /// When the name has no address, or nobody could be asked.
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

/// So many look-ups at most: a quarter of the threads that tokio keeps, unless told otherwise, for all that blocks.
static LOOKUPS: Semaphore = Semaphore::const_new(128);

/// The resolver of the operating system.
///
/// It blocks, so each look-up has a thread of tokio's blocking pool, and nothing can call it back: one that was given up at the
/// deadline keeps its thread until the system gives up too, after half a minute where `resolv.conf` names three silent servers.
/// At most 128 are under way in the process, abandoned ones included; further ones wait, within their own deadlines. A host
/// whose users may register names of their own by the thousand is better off with an asynchronous [`Resolve`].
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

/// Runs what blocks, whose place is free again when it has returned, and not when nobody waits for it any longer.
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
