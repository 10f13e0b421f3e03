//! Tokens: expiry, rotation, reuse detection, introspection and revocation.

use http::{Method, StatusCode};

use super::browser::Browser;
use super::http::{FullResponse, send};
use super::report::{Mismatch, Step, Stopped, expect, found, passed};
use super::{Tokens, Tour, sign_in};
use crate::demo::WEB_SECRET;

const WEB: Option<(&str, &str)> = Some(("demo-web", WEB_SECRET));

pub(super) async fn chapter(tour: &mut Tour<'_>, old: Tokens) -> Result<(), Stopped> {
    tour.report.chapter("Tokens");

    let step = expired(tour, &old).await;
    tour.report.step("the access token has expired", step)?;
    let step = refresh(tour, &old).await;
    let new = tour.report.step("refresh: two new tokens", step)?;
    let step = active(tour, &new).await;
    tour.report.step("the new access token, introspected", step)?;

    let step = refused(tour, &old.refresh).await;
    tour.report.step("the old refresh token again: reuse", step)?;
    let step = all_inactive(tour, &new).await;
    tour.report.step("reuse revokes the token family", step)?;
    let step = refused(tour, &new.refresh).await;
    tour.report.step("the last refresh token is revoked, too", step)?;

    let mut browser = Browser::new(tour, sign_in::DESKTOP);
    let step = sign_in::again(tour, &mut browser).await;
    let fresh = tour.report.step("the user signs in again", step)?;
    let step = active(tour, &fresh).await;
    tour.report.step("a new token family is active", step)?;
    let step = revoke(tour, &fresh.refresh).await;
    tour.report.step("revoke the refresh token", step)?;
    let step = all_inactive(tour, &fresh).await;
    tour.report.step("revocation ends the family at once", step)?;
    let step = revoke(tour, "never-issued").await;
    tour.report.step("revoke an unknown token", step)
}

async fn expired(tour: &Tour<'_>, tokens: &Tokens) -> Step {
    let answer = send(tour.bearing(Method::GET, "/v1/charges", &tokens.access)?).await?;
    answer.expect(StatusCode::UNAUTHORIZED)?;
    let challenge = answer.expect_header("www-authenticate")?;
    expect(
        &answer.sent,
        "invalid_token",
        challenge.contains("invalid_token"),
        true,
    )?;
    passed(&answer.sent, "401 invalid_token")
}

async fn ask_to_refresh(tour: &Tour<'_>, refresh_token: &str) -> Result<FullResponse, Mismatch> {
    let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh_token)];
    send(tour.form("/token", WEB, &fields)?).await
}

async fn refresh(tour: &Tour<'_>, tokens: &Tokens) -> Step<Tokens> {
    let answer = ask_to_refresh(tour, &tokens.refresh).await?;
    answer.expect(StatusCode::OK)?;
    let new = Tokens {
        access: answer.string_at("/access_token")?,
        refresh: answer.string_at("/refresh_token")?,
    };
    expect(
        &answer.sent,
        "the same refresh token",
        new.refresh == tokens.refresh,
        false,
    )?;
    found(
        "POST /token refresh_token",
        "200, a new access and a new refresh token",
        new,
    )
}

async fn introspect(tour: &Tour<'_>, token: &str) -> Result<FullResponse, Mismatch> {
    send(tour.form("/oauth/introspect", WEB, &[("token", token)])?).await
}

async fn active(tour: &Tour<'_>, tokens: &Tokens) -> Step {
    let answer = introspect(tour, &tokens.access).await?;
    answer
        .expect(StatusCode::OK)?
        .expect_at("/active", true)?
        .expect_at("/client_id", "demo-web")?;
    answer
        .expect_at("/sub", "usr_ada")?
        .expect_at("/iss", tour.base_url)?;
    passed(
        &answer.sent,
        format_args!("active: true, scope: {}", answer.string_at("/scope")?),
    )
}

pub(super) async fn refused(tour: &Tour<'_>, refresh_token: &str) -> Step {
    let answer = ask_to_refresh(tour, refresh_token).await?;
    answer
        .expect(StatusCode::BAD_REQUEST)?
        .expect_at("/error", "invalid_grant")?;
    passed("POST /token refresh_token", "400 invalid_grant")
}

async fn all_inactive(tour: &Tour<'_>, tokens: &Tokens) -> Step {
    for token in [&tokens.access, &tokens.refresh] {
        let answer = introspect(tour, token).await?;
        answer.expect(StatusCode::OK)?;
        expect(
            &answer.sent,
            "body",
            answer.text(),
            r#"{"active":false}"#.to_owned(),
        )?;
    }
    passed("POST /oauth/introspect, both tokens", r#"{"active":false}"#)
}

async fn revoke(tour: &Tour<'_>, token: &str) -> Step {
    let answer = send(tour.form(
        "/oauth/revoke",
        WEB,
        &[("token", token), ("token_type_hint", "refresh_token")],
    )?)
    .await?;
    answer.expect(StatusCode::OK)?;
    passed(&answer.sent, "200")
}
