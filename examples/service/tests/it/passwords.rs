//! Races between a password change and uses of the old password.

use futures_util::future::join_all;
use host_store_sqlite::Database;
use service::clock::DemoClock;
use service::desk::{Authenticated, Desk, User};

use crate::browser::{Browser, EMAIL, PASSWORD, text, where_to};
use crate::desk::open_over;

const NEW: &str = "another long password";

/// A desk and its demo user, authenticated.
async fn desk() -> (Desk, Authenticated) {
    let database = Database::open_in_memory().unwrap();
    let _app = open_over(database.clone()).await;
    let desk = Desk::open(database, DemoClock::new()).await.unwrap();
    let known = sign_in(&desk, PASSWORD).await.unwrap();
    (desk, known)
}

async fn sign_in(desk: &Desk, password: &str) -> Option<Authenticated> {
    let place = desk.hashing_place().unwrap();
    desk.authenticate(place, EMAIL, password.to_owned())
        .await
        .unwrap()
}

/// S3: of several parallel changes with one old password, one sets its new password and returns
/// `true`.
#[tokio::test]
async fn one_of_parallel_password_changes_succeeds() {
    let (desk, known) = desk().await;
    let new = |index| format!("another password {index}");
    let changes = (0..4).map(async |index| {
        let new = new(index).parse().unwrap();
        desk.change_password(&known, new).await.unwrap()
    });
    let changed = join_all(changes).await;
    assert_eq!(changed.iter().filter(|done| **done).count(), 1, "{changed:?}");
    assert!(sign_in(&desk, PASSWORD).await.is_none());
    for (index, done) in changed.into_iter().enumerate() {
        assert_eq!(sign_in(&desk, &new(index)).await.is_some(), done);
    }
}

/// S3, S5: a reset ends earlier authentications, also if it sets the same password again.
#[tokio::test]
async fn reset_ends_earlier_authentication() {
    let (desk, known) = desk().await;
    assert!(desk.is_current(&known).await.unwrap());
    let place = desk.hashing_place().unwrap();
    let same = desk
        .hash_password(place, PASSWORD.parse().unwrap())
        .await
        .unwrap();
    desk.set_password(&known.user.subject, same).await.unwrap();
    assert!(!desk.is_current(&known).await.unwrap());
    let thief = "a thief's password".parse().unwrap();
    assert!(!desk.change_password(&known, thief).await.unwrap());
    assert!(sign_in(&desk, "a thief's password").await.is_none());
    let again = sign_in(&desk, PASSWORD).await.unwrap();
    assert!(desk.is_current(&again).await.unwrap());
}

/// S3: of two parallel submissions of the form, one succeeds.
#[tokio::test]
async fn one_of_two_parallel_password_forms_succeeds() {
    let app = open_over(Database::open_in_memory().unwrap()).await;
    let mut browsers = [Browser::new(&app), Browser::new(&app)];
    for browser in &mut browsers {
        browser.sign_in().await;
    }
    let changes = browsers.iter_mut().enumerate().map(async |(index, browser)| {
        let new = format!("another password {index}");
        let fields = [("password", PASSWORD), ("new_password", new.as_str())];
        let answer = browser.post("/account/password", &fields).await;
        where_to(&answer) == "/account?notice=password"
    });
    let done = join_all(changes).await;
    assert_eq!(done.iter().filter(|done| **done).count(), 1, "{done:?}");
    for (browser, done) in browsers.iter_mut().zip(done) {
        assert_eq!(browser.is_signed_in().await, done);
    }
}

/// S3: a sign-in that overlaps with a password change leaves no session.
#[tokio::test]
async fn sign_in_during_password_change_leaves_no_session() {
    let database = Database::open_in_memory().unwrap();
    let app = open_over(database.clone()).await;
    let desk = Desk::open(database.clone(), DemoClock::new()).await.unwrap();
    let other = User::new("usr_other", "other@example.com", "Other");
    desk.register_user(other, NEW.parse().unwrap()).await.unwrap();
    execute(
        &database,
        "CREATE TRIGGER crossing AFTER INSERT ON oauth_session BEGIN
             UPDATE user SET password_hash = (SELECT password_hash FROM user WHERE subject = 'usr_other');
         END",
    )
    .await;
    let mut browser = Browser::new(&app);
    browser.get("/login").await;
    let fields = [("email", EMAIL), ("password", PASSWORD)];
    let refused = browser.post("/login", &fields).await;
    assert_eq!(refused.status(), 422);
    let page = text(&refused);
    assert!(page.contains("Email and password do not match."), "{page}");
    assert!(!browser.is_signed_in().await);
    let standing = database
        .read(|connection| -> Result<i64, host_store_sqlite::DatabaseError> {
            let standing =
                "SELECT COUNT(*) FROM oauth_session WHERE record NOT LIKE '%\"reason\":\"signed_out\"%'";
            Ok(connection.query_row(standing, [], |row| row.get(0))?)
        })
        .await
        .unwrap();
    assert_eq!(standing, 0);
    // the form of the refusal can be submitted again
    let fields = [("email", EMAIL), ("password", NEW)];
    assert_eq!(where_to(&browser.post("/login", &fields).await), "/account");
}

async fn execute(database: &Database, sql: &'static str) {
    database
        .write(
            move |transaction| -> Result<(), host_store_sqlite::DatabaseError> {
                Ok(transaction.execute_batch(sql)?)
            },
        )
        .await
        .unwrap();
}
