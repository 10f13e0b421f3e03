//! Secrecy of tokens and credentials.

use oauth_core::server::{AuthEvent, Authorize};

use super::fixture::{Fixture, Tokens, change, redemption, redirected, secret, web_request};

/// O6, O14: no secret is in an event or in the `Debug` output of anything that the host gets.
#[tokio::test]
async fn no_secret_is_printed() {
    let fixture = Fixture::new();
    let mut events: Vec<AuthEvent> = Vec::new();
    let interaction = fixture.interact(&web_request()).await;
    let mut printed = format!("{interaction:?} {:?}", fixture.server);
    let browser = interaction.browser.expose().to_owned();
    let answer = fixture.grant(&interaction).await;
    let code = redirected(&answer.response)
        .1
        .optional("code")
        .unwrap()
        .to_owned();
    printed.push_str(&format!("{answer:?}"));
    events.extend(answer.events);

    let answer = fixture.redeem(&code).await;
    let first = Tokens::of(&answer);
    printed.push_str(&format!("{answer:?}"));
    events.extend(answer.events);
    let answer = fixture.refresh(&first.refresh).await;
    let second = Tokens::of(&answer);
    printed.push_str(&format!("{answer:?}"));
    let id_token = first.body["id_token"].as_str().unwrap();
    for answer in [
        fixture.redeem(&code).await,
        fixture.refresh(&first.refresh).await,
        fixture
            .token(&change(redemption(&code), "code_verifier", None))
            .await,
        fixture.revoke_as("other", &[("token", &second.refresh)]).await,
        fixture.token_as("unregistered", &redemption(&code)).await,
    ] {
        printed.push_str(&String::from_utf8_lossy(answer.response.body()));
        events.extend(answer.events);
    }
    printed.push_str(&format!("{events:?}"));
    let secret = secret("web");
    for secret in [
        &browser,
        &code,
        &first.access,
        &first.refresh,
        &second.access,
        &second.refresh,
        id_token,
        secret.expose(),
    ] {
        assert!(!printed.contains(secret), "{secret:.3}… was printed");
    }
    assert!(!format!("{events:?}").contains("ada"), "subjects are hashed");
    assert!(printed.contains("[redacted]"));
}

/// O26: a refusal echoes no input.
#[tokio::test]
async fn refusal_echoes_no_input() {
    let fixture = Fixture::new();
    let probe = "<script>probe</script>";
    let answer = fixture.token(&vec![("grant_type", probe), (probe, probe)]).await;
    assert!(!String::from_utf8_lossy(answer.response.body()).contains("probe"));
    let Authorize::Respond(answer) = fixture.authorize(&vec![("client_id", probe)]).await else {
        panic!("accepted")
    };
    assert!(!String::from_utf8_lossy(answer.response.body()).contains("probe"));
    let answer = fixture
        .refused(&change(web_request(), "scope", Some(probe)))
        .await;
    assert!(
        !answer.response.headers()["location"]
            .to_str()
            .unwrap()
            .contains("probe")
    );
}
