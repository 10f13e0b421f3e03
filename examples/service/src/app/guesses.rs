//! Limit on password guesses. Each attempt is counted before the costly hash, by email address and
//! by client address.
//!
//! Unknown email addresses are counted the same way, so the limit does not reveal accounts. The
//! counts are in the database and survive a restart.

use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_conventions::errors::Problem;
use http_conventions::limits::RetryAfter;
use oauth_core::attempts::{Admission, AttemptKey, AttemptPolicy, Source};
use oauth_core::ports::StoreError;
use tracing::warn;

use super::App;
use super::client_address::describe_client;
use crate::desk::Authenticated;
use crate::seed;

/// Attempts for one email address from all addresses together; [NIST SP
/// 800-63B](https://pages.nist.gov/800-63-4/sp800-63b.html) allows 100.
const FROM_ANYWHERE: AttemptPolicy = match NonZeroU32::new(50) {
    Some(attempts) => AttemptPolicy::new(attempts, Duration::from_secs(24 * 60 * 60))
        .with_backoff(Duration::from_secs(60), Duration::from_secs(15 * 60)),
    None => AttemptPolicy::PASSWORDS,
};

impl App {
    /// Verifies a password; returns `None` if it does not belong to the address.
    ///
    /// # Errors
    ///
    /// - 429 after too many attempts, right or wrong
    /// - 503 if the password cannot be verified now
    pub(super) async fn verify_login(
        &self,
        request: &Request<Bytes>,
        email: &str,
        password: &str,
    ) -> Result<Option<Authenticated>, Problem> {
        // a password that is not verified is no attempt
        let place = self.desk.hashing_place().map_err(|error| self.refused(error))?;
        let counts = counts(request, email);
        // a refused attempt is not counted; concurrent ones may be, which only lengthens the wait
        for (key, _) in &counts {
            let standing = self
                .stores
                .attempts
                .passwords
                .standing(key, self.clock.now())
                .await;
            self.check_admission(request, key, standing)?;
        }
        for (key, policy) in &counts {
            self.attempt(request, key, policy).await?;
        }
        let known = self.desk.authenticate(place, email, password.to_owned()).await;
        let known = known.map_err(|error| self.refused(error))?;
        // without the demo an operator may have registered its user with the public password
        let is_public = email == seed::EMAIL && password == seed::PASSWORD;
        let known = known.filter(|_| self.has_demo() || !is_public);
        if known.is_some() {
            for (key, _) in &counts {
                let forgiven = self.stores.attempts.passwords.forgive(key).await;
                forgiven.map_err(|error| self.store_failed(&error))?;
            }
        }
        Ok(known)
    }

    /// Counts an attempt.
    ///
    /// # Errors
    ///
    /// - 429 after too many attempts
    /// - 503 if the counter's store fails
    pub(super) async fn attempt(
        &self,
        request: &Request<Bytes>,
        key: &AttemptKey,
        policy: &AttemptPolicy,
    ) -> Result<(), Problem> {
        let admission = self
            .stores
            .attempts
            .passwords
            .admit(key, policy, self.clock.now())
            .await;
        self.check_admission(request, key, admission)
    }

    fn check_admission(
        &self,
        request: &Request<Bytes>,
        key: &AttemptKey,
        admission: Result<Admission, StoreError>,
    ) -> Result<(), Problem> {
        match admission.map_err(|error| self.store_failed(&error))? {
            Admission::Admitted => Ok(()),
            Admission::Refused { retry_after } => {
                self.operator.metrics.record_refusal("attempts");
                let client = describe_client(request);
                warn!(policy = "attempts", key = %key.as_hash(), client, "too many attempts");
                Err(Problem::too_many_requests(RetryAfter::new(retry_after)))
            }
        }
    }
}

/// Counters of one guess: a low limit per client address, and a higher one over all addresses.
fn counts(request: &Request<Bytes>, email: &str) -> Vec<(AttemptKey, AttemptPolicy)> {
    let by_email = AttemptKey::subject(email);
    match request.extensions().get::<Source>() {
        Some(source) => vec![
            (by_email.from_source(*source), AttemptPolicy::PASSWORDS),
            (by_email, FROM_ANYWHERE),
        ],
        None => vec![(by_email, AttemptPolicy::PASSWORDS)],
    }
}

#[cfg(test)]
mod tests {
    use host_store_sqlite::Database;
    use http::StatusCode;

    use super::*;
    use crate::app::Config;
    use crate::seed::{EMAIL, PASSWORD};
    use crate::stores::Attempts;

    async fn app() -> App {
        let database = Database::open_in_memory().unwrap();
        App::open(Config::new("http://127.0.0.1:8080", database))
            .await
            .unwrap()
    }

    /// O27: attempts on clients and reset links take no room from the counters of passwords.
    #[tokio::test]
    async fn clients_and_resets_have_counters_of_their_own() {
        let app = app().await;
        let now = app.clock.now();
        for _ in 0..20 {
            let guess = Request::post("/token")
                .header("content-type", "application/x-www-form-urlencoded")
                .body("grant_type=client_credentials&client_id=unknown&client_secret=guess".into());
            let answer = app.server().token(guess.unwrap()).await;
            assert_eq!(answer.response.status(), StatusCode::UNAUTHORIZED);
            let letter = app.sessions.issue_reset("unknown@example.com", None).await;
            assert!(letter.unwrap().is_none());
        }
        let client = AttemptKey::client(&"unknown".parse().unwrap());
        let letter = AttemptKey::reset("unknown@example.com");
        let Attempts {
            passwords,
            clients,
            letters,
        } = &app.stores.attempts;
        for (key, closed, open) in [
            (client, clients, [passwords, letters]),
            (letter, letters, [passwords, clients]),
        ] {
            assert!(!closed.standing(&key, now).await.unwrap().is_admitted());
            for store in open {
                assert!(store.standing(&key, now).await.unwrap().is_admitted());
            }
        }
    }

    /// O27: a password that was not verified, because the queue was full, is not counted: a flood
    /// locks out a user only while it lasts.
    #[tokio::test]
    async fn unverified_password_is_not_counted() {
        let app = app().await;
        let request = Request::new(Bytes::new());
        let flood: Vec<_> = std::iter::from_fn(|| app.desk.hashing_place().ok()).collect();
        for _ in 0..10 {
            let refused = app.verify_login(&request, EMAIL, PASSWORD).await.unwrap_err();
            assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        }
        drop(flood);
        assert!(
            app.verify_login(&request, EMAIL, PASSWORD)
                .await
                .unwrap()
                .is_some()
        );
    }
}
