//! Requests that require a recent sign-in.

use std::time::Duration;

use oauth_core::server::{Consent, EndpointResponse, Interaction};
use oauth_core::store::Prompt;

use super::fixture::{Fixture, change, reason, redirected, web_request};

const SECOND: Duration = Duration::from_secs(1);

async fn asked(fixture: &Fixture, name: &str, value: &str) -> Interaction {
    fixture.interact(&change(web_request(), name, Some(value))).await
}

/// The consent of Ada, who signed in this long ago.
async fn grant(fixture: &Fixture, interaction: &Interaction, ago: Duration) -> EndpointResponse {
    let mut ada = fixture.ada();
    ada.auth_time = fixture.now() - ago;
    let browser = interaction.browser.expose();
    fixture
        .server
        .resume(
            &http::Request::post("/").body(()).unwrap(),
            &interaction.id,
            browser,
            Consent::Granted(ada),
        )
        .await
}

/// O24, 34: a sign-in that is too old for `prompt=login` or `max_age` gets no code.
#[tokio::test]
async fn a_sign_in_that_is_too_old_is_not_granted() {
    let fixture = Fixture::new();
    for (name, value, ago, granted) in [
        ("prompt", "login", SECOND, false),
        ("prompt", "login", Duration::ZERO, true),
        ("prompt", "login consent", SECOND, false),
        ("max_age", "0", SECOND, false),
        ("max_age", "0", Duration::ZERO, true),
        ("max_age", "60", SECOND * 61, false),
        ("max_age", "60", SECOND * 60, true),
        ("max_age", "18446744073709551615", SECOND * 1_000_000, true),
        ("prompt", "consent", SECOND * 1_000_000, true),
    ] {
        let interaction = asked(&fixture, name, value).await;
        let answer = grant(&fixture, &interaction, ago).await;
        let (_, query) = redirected(&answer.response);
        assert_eq!(
            query.optional("code").is_some(),
            granted,
            "{name}={value} {ago:?}"
        );
        if !granted {
            assert_eq!(query.optional("error"), Some("login_required"));
            assert_eq!(reason(&answer), "sign_in_too_old");
        }
    }
}

/// O24, 34: the age is compared to the nanosecond, within a second and across two.
#[tokio::test]
async fn sign_in_age_is_compared_to_the_nanosecond() {
    let fixture = Fixture::new();
    let nanosecond = Duration::from_nanos(1);
    for fraction in [Duration::ZERO, SECOND * 9 / 10, SECOND - nanosecond] {
        fixture.clock.advance(fraction);
        for (name, value, oldest) in [
            ("prompt", "login", Duration::ZERO),
            ("max_age", "0", Duration::ZERO),
            ("max_age", "60", SECOND * 60),
        ] {
            for (ago, granted) in [(oldest, true), (oldest + nanosecond, false)] {
                let interaction = asked(&fixture, name, value).await;
                let answer = grant(&fixture, &interaction, ago).await;
                let code = redirected(&answer.response).1.optional("code").is_some();
                assert_eq!(code, granted, "{name}={value} {ago:?} {fraction:?}");
            }
        }
    }
}

/// O24: the age counts at the time of the request, so that time at the page does not matter.
#[tokio::test]
async fn time_at_the_page_does_not_age_sign_in() {
    let fixture = Fixture::new();
    let interaction = asked(&fixture, "max_age", "0").await;
    fixture.clock.advance(SECOND * 300);
    let answer = grant(&fixture, &interaction, SECOND * 300).await;
    assert!(redirected(&answer.response).1.optional("code").is_some());
}

/// O24, 34: the host gets the prompts of the client and the earliest acceptable sign-in time.
#[tokio::test]
async fn host_gets_prompts_and_earliest_sign_in() {
    let fixture = Fixture::new();
    let plain = fixture.interact(&web_request()).await.details;
    assert!(plain.prompts.is_empty() && plain.signed_in_since.is_none() && plain.ui_locales.is_none());

    let interaction = asked(&fixture, "prompt", "select_account consent later").await;
    assert_eq!(
        interaction.details.prompts,
        [Prompt::SelectAccount, Prompt::Consent].into()
    );
    assert_eq!(interaction.details.signed_in_since, None);
    let login = asked(&fixture, "prompt", "login").await.details;
    assert_eq!(login.signed_in_since, Some(fixture.now()));
    let interaction = asked(&fixture, "max_age", "60").await;
    assert_eq!(
        interaction.details.signed_in_since,
        Some(fixture.now() - SECOND * 60)
    );
    // a later view of the page shows the same
    fixture.clock.advance(SECOND);
    let browser = interaction.browser.expose();
    let details = fixture
        .server
        .interaction(&interaction.id, browser)
        .await
        .unwrap();
    assert_eq!(details, Some(interaction.details));

    let swedish = asked(&fixture, "ui_locales", "se en-GB").await.details;
    assert_eq!(swedish.ui_locales.as_deref(), Some("se en-GB"));
    let forged = asked(&fixture, "ui_locales", "se\r\nen").await.details;
    assert_eq!(forged.ui_locales, None);
}

/// O2, 34: a `max_age` that is no whole number, and `none` beside another prompt, are refused.
#[tokio::test]
async fn a_malformed_age_or_prompt_is_refused() {
    let fixture = Fixture::new();
    for (name, value, expected) in [
        ("max_age", "-1", "max_age_malformed"),
        ("max_age", "+1", "max_age_malformed"),
        ("max_age", "1.5", "max_age_malformed"),
        ("max_age", "1e3", "max_age_malformed"),
        ("max_age", "18446744073709551616", "max_age_malformed"),
        ("prompt", "none login", "prompt_none_with_others"),
        ("prompt", "login none", "prompt_none_with_others"),
        ("prompt", "none", "login_required"),
    ] {
        let answer = fixture.refused(&change(web_request(), name, Some(value))).await;
        assert_eq!(reason(&answer), expected, "{value}");
        let error = match expected {
            "login_required" => "login_required",
            _ => "invalid_request",
        };
        assert_eq!(redirected(&answer.response).1.optional("error"), Some(error));
    }
}
