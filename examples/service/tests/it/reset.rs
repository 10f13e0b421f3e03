//! Password reset: the mail, the link and its lifetime.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use host_store_sqlite::Database;
use http::Response;
use service::app::{App, Config};
use service::clock::DemoClock;
use service::mail::Mailbox;

use crate::browser::{Browser, EMAIL, text, where_to};
use crate::desk::BASE;

const NEW_PASSWORD: &str = "another long password";

struct Fixture {
    app: Arc<App>,
    clock: DemoClock,
    letters: Mailbox,
}

async fn fixture() -> Fixture {
    let (clock, letters) = (DemoClock::new(), Mailbox::default());
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.clock = clock.clone();
    config.mail = letters.as_mail();
    Fixture {
        app: Arc::new(App::open(config).await.unwrap()),
        clock,
        letters,
    }
}

impl Fixture {
    /// Requests a reset; returns the page, and the token of the mail.
    async fn ask(&self, browser: &mut Browser, email: &str) -> (String, Option<String>) {
        browser.get("/password/forgotten").await;
        let page = browser.post("/password/forgotten", &[("email", email)]).await;
        assert_eq!(page.status(), 200);
        let letter = self.letters.take();
        let token = letter.map(|letter| {
            assert_eq!(letter.to, EMAIL);
            assert!(!format!("{letter:?}").contains("token="));
            let (_, rest) = letter.text.split_once("/password/reset?token=").unwrap();
            rest.split_whitespace().next().unwrap().to_owned()
        });
        (text(&page).replace(email, ""), token)
    }
}

/// Opens the link of a mail.
async fn open(browser: &mut Browser, token: &str) -> Response<Bytes> {
    browser.get(&format!("/password/reset?token={token}")).await
}

async fn set(browser: &mut Browser, token: &str, password: &str) -> Response<Bytes> {
    let fields = [("token", token), ("new_password", password)];
    browser.post("/password/reset", &fields).await
}

/// S5, S3: the newest link sets a password once and ends every session.
#[tokio::test]
async fn newest_reset_link_sets_password_once() {
    let fixture = fixture().await;
    let (mut browser, mut there) = (Browser::new(&fixture.app), Browser::new(&fixture.app));
    there.sign_in().await;
    let (_, older) = fixture.ask(&mut browser, EMAIL).await;
    let (_, newer) = fixture.ask(&mut browser, EMAIL).await;
    let (older, newer) = (older.unwrap(), newer.unwrap());
    for over in [older.as_str(), "", "x"] {
        assert_eq!(open(&mut browser, over).await.status(), 400, "{over}");
        assert_eq!(
            set(&mut browser, over, NEW_PASSWORD).await.status(),
            400,
            "{over}"
        );
    }
    // neither opening the link nor an invalid password consumes the token
    for _ in 0..2 {
        let page = open(&mut browser, &newer).await;
        assert_eq!(page.status(), 200);
        assert!(
            text(&page).contains("lose their access at once"),
            "{}",
            text(&page)
        );
        assert_eq!(set(&mut browser, &newer, "short").await.status(), 422);
    }
    assert!(there.is_signed_in().await);
    let set_once = set(&mut browser, &newer, NEW_PASSWORD).await;
    assert_eq!(where_to(&set_once), "/login?notice=reset");
    assert!(!there.is_signed_in().await);
    assert_eq!(open(&mut browser, &newer).await.status(), 400);
    assert_eq!(
        set(&mut browser, &newer, "a thief's password").await.status(),
        400
    );
    browser.get("/login").await;
    let fields = [("email", EMAIL), ("password", NEW_PASSWORD)];
    assert_eq!(where_to(&browser.post("/login", &fields).await), "/account");
}

/// S5: an unknown address sees the same page and gets no mail.
#[tokio::test]
async fn reset_page_does_not_reveal_accounts() {
    let fixture = fixture().await;
    let mut browser = Browser::new(&fixture.app);
    let (known, letter) = fixture.ask(&mut browser, EMAIL).await;
    assert!(letter.is_some());
    let (unknown, letter) = fixture.ask(&mut browser, "unknown@example.com").await;
    assert!(letter.is_none());
    assert_eq!(known, unknown);
}

/// S5: a link expires after 15 minutes, to the second.
#[tokio::test]
async fn reset_link_expires_after_fifteen_minutes() {
    let fixture = fixture().await;
    let mut browser = Browser::new(&fixture.app);
    let (_, token) = fixture.ask(&mut browser, EMAIL).await;
    let token = token.unwrap();
    fixture.clock.advance(Duration::from_secs(14 * 60));
    assert_eq!(open(&mut browser, &token).await.status(), 200);
    fixture.clock.advance(Duration::from_secs(60));
    assert_eq!(open(&mut browser, &token).await.status(), 400);
    assert_eq!(set(&mut browser, &token, NEW_PASSWORD).await.status(), 400);
}

/// S5: a cross-site form requests no mail and sets no password.
#[tokio::test]
async fn cross_site_form_resets_nothing() {
    let fixture = fixture().await;
    let mut browser = Browser::new(&fixture.app);
    let (_, token) = fixture.ask(&mut browser, EMAIL).await;
    browser.token.clear();
    let refused = set(&mut browser, &token.unwrap(), NEW_PASSWORD).await;
    assert_eq!(refused.status(), 403);
    let refused = browser.post("/password/forgotten", &[("email", EMAIL)]).await;
    assert_eq!(refused.status(), 403);
    assert!(fixture.letters.take().is_none());
}
