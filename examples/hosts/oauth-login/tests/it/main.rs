//! Starts the program with its defaults and signs in to it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod browser;
mod issuer;

use std::process::Stdio;

use browser::Browser;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// The running program; dropping it ends it.
struct App {
    _child: Child,
    url: String,
}

impl App {
    async fn start() -> Self {
        let issuer = issuer::start();
        let mut child = Command::new(env!("CARGO_BIN_EXE_oauth-login"))
            .args([
                "--issuer",
                &issuer,
                "--client-id",
                "native",
                "--listen",
                "127.0.0.1:0",
            ])
            .env_remove("OAUTH_CLIENT_SECRET")
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let greeting = output.next_line().await.unwrap().unwrap();
        let url = greeting.strip_prefix("listening on ").unwrap().to_owned();
        Self { _child: child, url }
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
}

/// O18, O23: a user signs in at the issuer with a pushed request, has a session in this browser
/// alone, and signs out.
#[tokio::test]
async fn a_person_signs_in_and_out() {
    let app = App::start().await;
    let (browser, home) = (Browser::default(), app.at("/"));
    assert!(browser.text(&home).await.contains("Not signed in"));
    let issuer = browser.follow(&app.at("/login")).await;
    assert!(issuer.contains("request_uri=urn"), "{issuer}");
    let back = browser.follow(&issuer).await;
    assert_eq!(browser.follow(&back).await, "/");
    let page = browser.text(&home).await;
    assert!(
        page.contains("Hello Ada &#60;b&#62;") && page.contains("ada@example.com"),
        "{page}"
    );
    assert!(Browser::default().text(&home).await.contains("Not signed in"));

    // a form without the CSRF token of this browser
    let forged = browser.exchange(&app.at("/sign-out"), Some("csrf_token=x")).await;
    assert_eq!(forged.status(), 403);
    assert!(browser.text(&home).await.contains("Hello"));
    let (_, field) = page.split_once("csrf_token\" value=\"").unwrap();
    let token = field.split('"').next().unwrap();
    let signed_out = browser
        .exchange(&app.at("/sign-out"), Some(&format!("csrf_token={token}")))
        .await;
    assert_eq!(signed_out.status(), 303);
    assert!(browser.text(&home).await.contains("Not signed in"));
}

/// O5, 89: the link back works in the browser that began, and once: neither does it sign in another
/// browser, nor can an attacker sign a victim in as the attacker.
#[tokio::test]
async fn link_back_works_once_in_its_browser() {
    let app = App::start().await;
    let (victim, attacker) = (Browser::default(), Browser::default());
    let link = victim.link_back(&app.url).await;
    assert_eq!(Browser::default().status(&link).await, 400);
    // an attacker with a sign-in of its own
    let own = attacker.link_back(&app.url).await;
    assert_eq!(attacker.status(&link).await, 400);
    assert_eq!(victim.status(&own).await, 400);
    // the link was not used yet
    assert_eq!(victim.status(&link).await, 303);
    assert_eq!(victim.status(&link).await, 400);
    assert!(victim.text(&app.at("/")).await.contains("Hello"));
}

/// O5, 90, 91: a response of another issuer and an invalid response sign no user in, and their text
/// is not shown.
#[tokio::test]
async fn invalid_response_of_the_issuer_is_refused() {
    let app = App::start().await;
    for change in [
        "&iss=https%3A%2F%2Fevil.example",
        "&error=access_denied",
        "&code=another",
        "&state=another",
    ] {
        let browser = Browser::default();
        let link = browser.link_back(&app.url).await;
        assert_eq!(browser.status(&format!("{link}{change}")).await, 400, "{change}");
        assert!(
            browser.text(&app.at("/")).await.contains("Not signed in"),
            "{change}"
        );
    }
    let browser = Browser::default();
    let link = browser.link_back(&app.url).await;
    let refused = link
        .replace("iss=http%3A", "iss=https%3A")
        .replace("code=", "error_description=%3Cb%3E&error=");
    let page = browser.text(&refused).await;
    assert!(
        page.contains("Sign in again") && !page.contains("<b>") && !page.contains("&#60;b"),
        "{page}"
    );
    assert_eq!(browser.status(&app.at("/callback")).await, 400);
    assert_eq!(browser.status(&app.at("/nothing")).await, 404);
}
