//! Sessions: sign-in on two devices, and every way a session ends.

use http::StatusCode;
use std::time::Duration;

use super::browser::{Browser, see_other};
use super::http::FullResponse;
use super::report::{Mismatch, Step, Stopped, expect, found, mismatch, passed};
use super::sign_in::{self, DESKTOP};
use super::{Tokens, Tour, tokens};
use crate::demo::{EMAIL, PASSWORD};

const PHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1";
const NEW_PASSWORD: &str = "a new password for ada";

pub(super) async fn chapter(tour: &mut Tour<'_>) -> Result<(), Stopped> {
    tour.report.chapter("Sessions");
    let (mut desktop, mut phone) = (Browser::new(tour, DESKTOP), Browser::new(tour, PHONE));

    let step = sign_in::again(tour, &mut desktop).await;
    tour.report.step("the user signs in", step)?;
    let step = sign_in::again(tour, &mut desktop).await;
    let kept = tour.report.step("again: the session needs no password", step)?;
    let step = fresh_password(tour, &mut desktop).await;
    tour.report
        .step("prompt=login: the password is asked for", step)?;
    let step = sign_in::again(tour, &mut phone).await;
    let lost = tour.report.step("the user signs in on a phone", step)?;

    let step = listed(&mut desktop).await;
    let id = tour.report.step("the account page lists both", step)?;
    let step = forged(&desktop).await;
    tour.report
        .step("a cross-site form without its CSRF token", step)?;
    let step = end(&mut desktop, &id).await;
    tour.report.step("the phone is signed out", step)?;
    let step = asked_again(&mut phone).await;
    tour.report.step("the phone has to sign in again", step)?;
    let step = tokens::refused(tour, &lost.refresh).await;
    tour.report.step("the phone's tokens are revoked, too", step)?;

    let step = new_password(&mut desktop).await;
    tour.report.step("a new password renews the session", step)?;
    let step = expires_idle(tour, &mut desktop).await;
    tour.report.step("after 30 minutes without use", step)?;
    lost_password(tour, &kept).await?;
    everywhere(tour).await
}

async fn lost_password(tour: &mut Tour<'_>, before: &Tokens) -> Result<(), Stopped> {
    let mut browser = Browser::new(tour, DESKTOP);
    let step = mails(tour, &mut browser).await;
    let links = tour.report.step("forgotten password: two mails", step)?;
    let step = reset(&mut browser, &links).await;
    tour.report.step("the newer link sets a password, once", step)?;
    let step = tokens::refused(tour, &before.refresh).await;
    tour.report.step("the reset revoked every token", step)
}

async fn everywhere(tour: &mut Tour<'_>) -> Result<(), Stopped> {
    let (mut desktop, mut phone) = (Browser::new(tour, DESKTOP), Browser::new(tour, PHONE));
    let step = both_sign_in(&mut desktop, &mut phone).await;
    tour.report.step("both sign in with the new password", step)?;
    let step = sign_in::again(tour, &mut phone).await;
    let lost = tour.report.step("the user allows a client on the phone", step)?;
    let step = sign_out_everywhere(&mut desktop).await;
    tour.report.step("the user signs out everywhere", step)?;
    for browser in [&mut desktop, &mut phone] {
        let step = asked_again(browser).await;
        tour.report.step("the browser has to sign in again", step)?;
    }
    let step = tokens::refused(tour, &lost.refresh).await;
    tour.report.step("every refresh token is revoked", step)
}

fn is_shown(answer: &FullResponse, text: &str) -> Result<(), Mismatch> {
    answer.expect(StatusCode::OK)?;
    expect(&answer.sent, text, answer.text().contains(text), true)
}

async fn fresh_password(tour: &Tour<'_>, browser: &mut Browser) -> Step {
    // sign-in times have a resolution of one second
    tour.desk.advance(Duration::from_secs(1));
    let (page, consent) = sign_in::ask(tour, browser, "&prompt=login").await?;
    is_shown(&page, "current-password")?;
    let past = browser.get(&consent).await?;
    expect(
        &past.sent,
        "redirect to /login",
        see_other(&past)?.starts_with("/login"),
        true,
    )?;
    passed(
        "GET /authorize?…&prompt=login",
        "the login page; /consent redirects to it",
    )
}

/// Id of the other session.
async fn listed(browser: &mut Browser) -> Step<String> {
    let page = browser.get("/account").await?;
    is_shown(&page, "Firefox on Linux")?;
    is_shown(&page, "Safari on iPhone")?;
    let text = page.text();
    let id = text.split("name=\"session\" value=\"").nth(1);
    let id = id.and_then(|rest| rest.split('"').next());
    let id = id.ok_or_else(|| mismatch(&page.sent, "another session", "none"))?;
    found(
        "GET /account",
        "200, Firefox on Linux (this device), Safari on iPhone",
        id.to_owned(),
    )
}

async fn forged(browser: &Browser) -> Step {
    let mut victim = browser.without_form_token();
    let answer = victim.post("/account/sign-out-everywhere", &[]).await?;
    answer.expect(StatusCode::FORBIDDEN)?;
    passed(&answer.sent, "403, no session ends")
}

async fn end(browser: &mut Browser, id: &str) -> Step {
    let answer = browser.post("/account/end-session", &[("session", id)]).await?;
    let page = browser.get(&see_other(&answer)?).await?;
    is_shown(&page, "That session has ended")?;
    expect(&page.sent, "the phone", page.text().contains("iPhone"), false)?;
    passed(&answer.sent, "303, no longer in the list")
}

async fn asked_again(browser: &mut Browser) -> Step {
    let answer = browser.get("/account").await?;
    expect(&answer.sent, "to", see_other(&answer)?.as_str(), "/login")?;
    passed("GET /account with its old cookie", "303 to /login")
}

async fn new_password(browser: &mut Browser) -> Step {
    browser.get("/account").await?.expect(StatusCode::OK)?;
    let mut old = browser.clone();
    let fields = [("password", PASSWORD), ("new_password", NEW_PASSWORD)];
    let answer = browser.post("/account/password", &fields).await?;
    let page = browser.get(&see_other(&answer)?).await?;
    is_shown(&page, "Your password is changed")?;
    expect(
        &answer.sent,
        "the same secret",
        browser.session() == old.session(),
        false,
    )?;
    asked_again(&mut old).await?;
    passed(&answer.sent, "303, a new cookie; the old one is invalid")
}

async fn expires_idle(tour: &Tour<'_>, browser: &mut Browser) -> Step {
    tour.desk.advance(Duration::from_secs(30 * 60));
    asked_again(browser).await
}

/// The links of two mails, the older first.
async fn mails(tour: &Tour<'_>, browser: &mut Browser) -> Step<[String; 2]> {
    let mut links = [String::new(), String::new()];
    let mut pages = Vec::new();
    for link in &mut links {
        *link = mail(tour, browser, EMAIL, &mut pages).await?.unwrap_or_default();
    }
    let none = mail(tour, browser, "unknown@example.com", &mut pages).await?;
    expect(
        "POST /password/forgotten",
        "mail to an unknown address",
        none,
        None,
    )?;
    let alike = pages.iter().all(|page| Some(page) == pages.first());
    expect(
        "POST /password/forgotten",
        "the same page for an unknown address",
        alike,
        true,
    )?;
    found(
        "POST /password/forgotten, three times",
        "200, two mails; the same page for an unknown address",
        links,
    )
}

async fn mail(
    tour: &Tour<'_>,
    browser: &mut Browser,
    email: &str,
    pages: &mut Vec<String>,
) -> Result<Option<String>, Mismatch> {
    browser.get("/password/forgotten").await?.expect(StatusCode::OK)?;
    let page = browser.post("/password/forgotten", &[("email", email)]).await?;
    is_shown(&page, "on its way")?;
    pages.push(page.text().replace(email, ""));
    let text = tour.desk.take_mail();
    Ok(text.and_then(|text| {
        Some(
            text.split_once(tour.base_url)?
                .1
                .split_whitespace()
                .next()?
                .to_owned(),
        )
    }))
}

async fn reset(browser: &mut Browser, [older, newer]: &[String; 2]) -> Step {
    let page = browser.get(older).await?;
    page.expect(StatusCode::BAD_REQUEST)?;
    is_shown(&browser.get(newer).await?, "A new password")?;
    let token = newer.split_once("token=").map_or("", |(_, token)| token);
    let fields = [("token", token), ("new_password", NEW_PASSWORD)];
    let answer = browser.post("/password/reset", &fields).await?;
    expect(
        &answer.sent,
        "to",
        see_other(&answer)?.as_str(),
        "/login?notice=reset",
    )?;
    browser
        .post("/password/reset", &fields)
        .await?
        .expect(StatusCode::BAD_REQUEST)?;
    passed(&answer.sent, "303; the older link, and this one again: 400")
}

async fn both_sign_in(desktop: &mut Browser, phone: &mut Browser) -> Step {
    for browser in [desktop, phone] {
        let fields = [("email", EMAIL), ("password", NEW_PASSWORD)];
        browser.get("/login").await?.expect(StatusCode::OK)?;
        let answer = browser.post("/login", &fields).await?;
        expect(&answer.sent, "to", see_other(&answer)?.as_str(), "/account")?;
    }
    passed("POST /login, twice", "303 to /account")
}

async fn sign_out_everywhere(browser: &mut Browser) -> Step {
    browser.get("/account").await?.expect(StatusCode::OK)?;
    let answer = browser.post("/account/sign-out-everywhere", &[]).await?;
    let page = browser.get(&see_other(&answer)?).await?;
    is_shown(&page, "signed out on every device")?;
    passed(&answer.sent, "303, the cookie is removed")
}
