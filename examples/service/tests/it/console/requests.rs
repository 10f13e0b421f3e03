//! Pages of the last requests.

use super::signed_in;
use crate::browser::{Browser, PASSWORD, text, where_to};
use crate::desk::{ALL_SCOPES, bearer, call, header, json};
use crate::sign_in::{begin, log_in};

/// X9: the requests of every flow are kept without any of its secrets.
#[tokio::test]
async fn kept_requests_have_no_secret_of_the_flows() {
    let (app, mut browser) = signed_in().await;
    let mut secrets = vec![PASSWORD.to_owned(), "demo-service-secret".to_owned()];
    let begun = begin(&mut browser, "").await;
    log_in(&mut browser, &begun, PASSWORD).await;
    secrets.push(begun.interaction.clone());
    secrets.extend(browser.cookies.values().cloned());
    secrets.push(browser.token.clone());
    let token = bearer(&app, ALL_SCOPES).await;
    secrets.push(token.trim_start_matches("Bearer ").to_owned());
    let body = r#"{"url":"https://a.example/hook","headers":[{"name":"x-key","value":"static-secret"}]}"#;
    let hook = call(&app, &token, ("POST", "/v1/webhook-endpoints"), &[], body).await;
    let secret = json(&hook).get("secret").unwrap().as_str().unwrap().to_owned();
    secrets.extend([secret, "static-secret".to_owned()]);
    browser
        .post(
            "/login",
            &[
                ("email", "ada@example.com"),
                ("password", "incorrect-horse-secret"),
            ],
        )
        .await;
    browser
        .get("/password/reset?token=pr_reset-secret-of-a-mail")
        .await;
    browser.get("/callback?code=ac_code-of-a-client&state=x").await;
    secrets.extend(
        [
            "incorrect-horse-secret",
            "reset-secret-of-a-mail",
            "code-of-a-client",
        ]
        .map(str::to_owned),
    );

    let list = text(&browser.get("/console/requests").await);
    let ids = list.split("href=\"/console/requests/").skip(1);
    let ids: Vec<_> = ids
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    assert!(ids.len() >= 10, "{list}");
    // the pages of the console carry their own tokens, and a request id is not one
    for id in ids {
        let page = text(&browser.get(&format!("/console/requests/{id}")).await);
        assert!(page.contains("What came"), "{page}");
        for secret in &secrets {
            assert!(!page.contains(secret.as_str()), "{secret} in {page}");
        }
    }
    assert!(list.contains("/token") && list.contains("/v1/webhook-endpoints"));
}

/// X9: the id of a request leads to what the request did, or to a page that says that it did
/// nothing.
#[tokio::test]
async fn request_id_leads_to_what_the_request_did() {
    let (app, mut browser) = signed_in().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let created = r#"{"amount":4900,"currency":"eur"}"#;
    for (method, body) in [("POST", created), ("POST", "{}"), ("GET", "")] {
        let answer = call(&app, &token, (method, "/v1/charges"), &[], body).await;
        let id = header(answer.headers(), "x-request-id").to_owned();
        let found = browser.get(&format!("/console/find?id=+{id}+")).await;
        assert_eq!(where_to(&found), format!("/console/requests/{id}"));
        let page = text(&browser.get(where_to(&found)).await);
        match header(answer.headers(), "location") {
            "" => assert!(page.contains("Nothing has this request"), "{page}"),
            path => {
                let charge = path.rsplit('/').next().unwrap();
                assert!(
                    page.contains(&format!("href=\"/console/charges/{charge}\"")),
                    "{page}"
                );
            }
        }
    }
}

/// The card of a request about its effects.
async fn effects_of(browser: &mut Browser, answer: &http::Response<bytes::Bytes>) -> String {
    let id = header(answer.headers(), "x-request-id");
    let page = text(&browser.get(&format!("/console/requests/{id}")).await);
    let card = page.split("id=\"did\"").nth(1).unwrap();
    card.split("</section>").next().unwrap().to_owned()
}

/// X9: the effects of a request are those of its handler, not ids in its content: a query has none,
/// a text is no id, a deletion is named, and a long answer hides nothing.
#[tokio::test]
async fn effects_are_those_of_the_handler() {
    let (app, mut browser) = signed_in().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let body = r#"{"amount":4900,"currency":"eur","description":"ep_2"}"#;
    let created = call(&app, &token, ("POST", "/v1/charges"), &[], body).await;
    let charge = json(&created)["id"].as_str().unwrap().to_owned();
    let card = effects_of(&mut browser, &created).await;
    assert!(card.contains(&format!("/console/charges/{charge}")), "{card}");
    assert!(!card.contains("ep_2"), "{card}");

    let sent = async |query: &str| {
        let body = serde_json::json!({ "query": query }).to_string();
        call(&app, &token, ("POST", "/graphql"), &[], &body).await
    };
    let read = sent("{ createCharge: charges { edges { node { id } } } }").await;
    assert!(text(&read).contains(&charge), "{read:?}");
    let card = effects_of(&mut browser, &read).await;
    assert!(card.contains("Nothing has this request"), "{card}");

    let field = |number: usize| {
        format!(
            "created{number}: createCharge(amount: 100, currency: \"eur\", description: \"long\") {{ id }} "
        )
    };
    let aliases = "x".repeat(5_000);
    let long = format!(
        "mutation {{ {aliases}: createCharge(amount: 5, currency: \"eur\") {{ id }} {} }}",
        field(2)
    );
    let long = sent(&long).await;
    let (made, kept) = (json(&long), text(&long));
    let ids = made["data"].as_object().unwrap().values();
    let ids: Vec<_> = ids.map(|made| made["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 2, "{kept}");
    let card = effects_of(&mut browser, &long).await;
    for id in &ids {
        assert!(card.contains(&format!("/console/charges/{id}")), "{card}");
    }
}

/// X9: a deletion names what it deleted; a change with an answer too long to keep names it too, and
/// the replay of a stored answer leads to what the first request did.
#[tokio::test]
async fn effects_do_not_depend_on_the_kept_answer() {
    let (app, mut browser) = signed_in().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let key = [("idempotency-key", "\"effects-1\"")];
    let body = r#"{"amount":4900,"currency":"eur"}"#;
    for word in ["", "got the stored answer"] {
        let answer = call(&app, &token, ("POST", "/v1/charges"), &key, body).await;
        let charge = json(&answer)["id"].as_str().unwrap().to_owned();
        let card = effects_of(&mut browser, &answer).await;
        assert!(card.contains(&charge) && card.contains(word), "{card}");
    }
    let names = (0..16)
        .map(|number| serde_json::json!({ "name": format!("x-{number}-{}", "n".repeat(245)), "value": "v" }));
    let body = serde_json::json!({ "url": "https://a.example/hook", "headers": names.collect::<Vec<_>>() })
        .to_string();
    let created = call(&app, &token, ("POST", "/v1/webhook-endpoints"), &[], &body).await;
    let id = json(&created)["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{created:?}"))
        .to_owned();
    assert!(created.body().len() > 4_096, "too short to be cut");
    let card = effects_of(&mut browser, &created).await;
    assert!(card.contains(&format!("/console/endpoints/{id}")), "{card}");

    let path = format!("/v1/webhook-endpoints/{id}");
    let deleted = call(&app, &token, ("DELETE", &path), &[], "").await;
    assert_eq!(deleted.status(), 204);
    let card = effects_of(&mut browser, &deleted).await;
    assert!(card.contains(&id) && card.contains("deleted"), "{card}");
    assert!(!card.contains("href=") && !card.contains("Nothing has"), "{card}");
}

/// X9: a request shows the stage that ended it, and becomes a command of curl.
#[tokio::test]
async fn request_shows_what_the_pipeline_decided() {
    let (app, mut browser) = signed_in().await;
    let token = bearer(&app, "read:charges").await;
    let key = [("idempotency-key", "\"console-1\"")];
    let body = r#"{"amount":4900,"currency":"eur"}"#;
    let all = bearer(&app, ALL_SCOPES).await;
    for (token, body, ended_by, word) in [
        (token.as_str(), body, "Authorize", "Ended here"),
        (all.as_str(), body, "Handler", "Answered"),
        (all.as_str(), body, "Idempotency", "Replayed"),
        (all.as_str(), "{}", "Idempotency", "Ended here"),
    ] {
        let answer = call(&app, token, ("POST", "/v1/charges"), &key, body).await;
        let id = header(answer.headers(), "x-request-id").to_owned();
        let page = text(&browser.get(&format!("/console/requests/{id}")).await);
        let stage = page.split(&format!("<h3>{ended_by}</h3>")).nth(1).unwrap();
        let stage = stage.split("</li>").next().unwrap();
        assert!(stage.contains(word), "{ended_by}: {stage}");
        // preconditions are part of the handler, and what was not reached took no time
        assert!(stage.contains(" ms</span>"), "{ended_by}: {stage}");
        let timed = page.matches(" ms</span></li>").count();
        let not_reached = page.matches("Not reached").count();
        assert!(timed + not_reached >= 6, "{page}");
        assert!(page.contains("Authorization: Bearer $TOKEN"), "{page}");
    }
    let found = text(&browser.get("/console/requests?status=4xx&q=/v1/charges").await);
    assert_eq!(found.matches("class=\"open mono\"").count(), 2, "{found}");
}
