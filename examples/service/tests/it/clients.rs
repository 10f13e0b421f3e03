//! Clients and users of a service without the demo.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use host_store_sqlite::Database;
use http::StatusCode;
use oauth_core::RegisteredClient;
use oauth_core::grant::AccessTokenFormat;
use oauth_core::store::{ClientSecrets, GrantType};
use serde_json::Value;
use service::app::{App, Config, OpenError};
use service::clock::DemoClock;
use service::desk::{Desk, User};

use crate::browser::{Browser, EMAIL, PASSWORD, text};
use crate::desk::{BASE, FORM, SERVICE, ask, json, request};
use crate::processes::{BINARIES, Process};

const SECRET: &str = "a2f7c6b3d1e84f5097b6c5d4e3f2a1b0";
/// `robot` with [`SECRET`], as HTTP Basic.
const ROBOT: &str = "Basic cm9ib3Q6YTJmN2M2YjNkMWU4NGY1MDk3YjZjNWQ0ZTNmMmExYjA=";

fn robot() -> RegisteredClient {
    let secrets = ClientSecrets::new(&SECRET.parse().unwrap());
    RegisteredClient::confidential("robot".parse().unwrap(), secrets)
        .with_grant_types([GrantType::ClientCredentials])
        .with_scopes("read:charges read:orders".parse().unwrap())
}

fn config(database: &Database, clients: Vec<RegisteredClient>) -> Config {
    let mut config = Config::new(BASE, database.clone());
    config.clients = clients;
    config.demo = false;
    config.access_tokens.other_scopes = "read:orders".parse().unwrap();
    config
}

/// Status and body of a token request.
async fn token(app: &Arc<App>, client: &str, scope: &str) -> (StatusCode, Value) {
    let form = format!("grant_type=client_credentials&scope={scope}");
    let asked = request("POST", "/token", &[FORM, ("authorization", client)], form);
    let answer = ask(app, asked).await;
    (answer.status(), json(&answer))
}

async fn read(app: &Arc<App>, token: &Value) -> StatusCode {
    let bearer = format!("Bearer {}", token["access_token"].as_str().unwrap());
    let asked = request("GET", "/v1/charges", &[("authorization", &bearer)], "");
    ask(app, asked).await.status()
}

/// X7: without the demo only the configured clients are known. A client that the next start leaves
/// out is unknown, and its tokens are refused.
#[tokio::test]
async fn configured_client_is_known_until_it_is_left_out() {
    for format in [AccessTokenFormat::Jwt, AccessTokenFormat::Opaque] {
        let database = Database::open_in_memory().unwrap();
        let mut config = config(&database, vec![robot()]);
        config.access_tokens.format = format;
        let app = Arc::new(App::open(config).await.unwrap());
        assert_eq!(token(&app, SERVICE, "read:charges").await.0, 401);
        let (status, granted) = token(&app, ROBOT, "read:charges+read:orders").await;
        assert_eq!(
            (status, &granted["scope"]),
            (StatusCode::OK, &"read:charges read:orders".into())
        );
        assert_eq!(read(&app, &granted).await, 200);

        let mut config = self::config(&database, Vec::new());
        config.access_tokens.format = format;
        let app = Arc::new(App::open(config).await.unwrap());
        assert_eq!(token(&app, ROBOT, "read:charges").await.0, 401);
        assert_eq!(read(&app, &granted).await, 401, "{format:?}");
    }
}

/// X7: the first service on a database decides whether it has the demo. The other kind is refused,
/// and changes nothing in the database.
#[tokio::test]
async fn other_demo_setting_is_refused_at_the_start() {
    let opened = async |database: &Database, demo: bool| {
        let mut config = config(database, vec![robot()]);
        config.demo = demo;
        App::open(config).await.map(Arc::new)
    };
    let refusal = |refused: Result<Arc<App>, OpenError>| program::in_one_line(&refused.err().unwrap());

    let database = Database::open_in_memory().unwrap();
    let demo = opened(&database, true).await.unwrap();
    assert_eq!(token(&demo, SERVICE, "read:charges").await.0, 200);
    assert_eq!(
        refusal(opened(&database, false).await),
        "cannot start the service: the database: its users and clients include those of the demo, whose \
         secrets are public; name another database"
    );
    assert!(opened(&database, true).await.is_ok());

    let database = Database::open_in_memory().unwrap();
    let app = opened(&database, false).await.unwrap();
    assert_eq!(
        refusal(opened(&database, true).await),
        "cannot start the service: the database: it belongs to a service without the demo; set no-demo, or \
         name another database"
    );
    let desk = Desk::open(database.clone(), DemoClock::new()).await.unwrap();
    assert!(desk.user_by_email(EMAIL).await.unwrap().is_none());
    assert_eq!(token(&app, SERVICE, "read:charges").await.0, 401);
    assert!(opened(&database, false).await.is_ok());
}

/// X7: a first start that fails does not decide: the other kind of service can use the database.
#[tokio::test]
async fn failed_first_start_leaves_the_choice_open() {
    let broken: [fn(&mut Config); 3] = [
        |config| config.sign_in_as = Some("unknown@example.com".to_owned()),
        |config| config.key_rotation = Duration::ZERO,
        |config| config.base_url = "no URL".to_owned(),
    ];
    for (number, spoil) in broken.into_iter().enumerate() {
        for demo in [true, false] {
            let database = Database::open_in_memory().unwrap();
            let mut first = config(&database, vec![robot()]);
            first.demo = demo;
            spoil(&mut first);
            assert!(App::open(first).await.is_err(), "{number} {demo}");
            let desk = Desk::open(database.clone(), DemoClock::new()).await.unwrap();
            assert!(
                desk.user_by_email(EMAIL).await.unwrap().is_none(),
                "{number} {demo}"
            );
            let mut second = config(&database, vec![robot()]);
            second.demo = !demo;
            let opened = App::open(second).await;
            assert!(opened.is_ok(), "{number} {demo}: {:?}", opened.err());
        }
    }
}

/// X7: without the demo its public password signs its user in nowhere, also when an operator
/// registers that user beside the running service. No page shows the password.
#[tokio::test]
async fn demo_password_is_refused_without_the_demo() {
    let database = Database::open_in_memory().unwrap();
    let app = Arc::new(App::open(config(&database, Vec::new())).await.unwrap());
    let desk = Desk::open(database.clone(), DemoClock::new()).await.unwrap();
    for (subject, email, password) in [
        ("usr_ada", EMAIL, PASSWORD),
        ("usr_eve", "eve@example.com", "a long enough password"),
    ] {
        let user = User::new(subject, email, "A user");
        assert!(desk.register_user(user, password.parse().unwrap()).await.unwrap());
    }
    let mut browser = Browser::new(&app);
    for path in ["/", "/login", "/problems"] {
        let page = text(&browser.get(path).await);
        assert!(
            !page.contains(PASSWORD) && !page.contains("/client"),
            "{path}: {page}"
        );
    }
    assert_eq!(browser.get("/client").await.status(), 404);
    for (email, password, status) in [
        (EMAIL, PASSWORD, 422),
        (EMAIL, "another password", 422),
        ("eve@example.com", "a long enough password", 303),
    ] {
        browser.get("/login").await;
        let fields = [("email", email), ("password", password)];
        assert_eq!(browser.post("/login", &fields).await.status(), status, "{email}");
    }
}

/// X7: a service that others reach warns of the demo; one without it does not.
#[test]
fn reachable_service_warns_of_the_demo() {
    let [hyper, ..] = BINARIES;
    let words = ["--base-url", "https://desk.example.com"];
    let line = Process::start(hyper, &words).error_with("secrets are public");
    assert!(line.contains("WARN") && line.contains("no-demo"), "{line}");

    let words = [&words[..], &["--no-demo"]].concat();
    let quiet = Process::start(hyper, &words);
    quiet.signal("TERM");
    let (code, errors) = quiet.end();
    assert_eq!(code, Some(0), "{errors}");
    assert!(!errors.contains("secrets are public"), "{errors}");
}

fn add_user(database: &str, password: &str) -> Output {
    let [hyper, ..] = BINARIES;
    let mut child = Command::new(hyper)
        .args(["add-user", "eve@example.com", "Eve", "--database", database])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{password}").unwrap();
    child.wait_with_output().unwrap()
}

/// X7: a user is added once, and signs in with the password of standard input.
#[tokio::test]
async fn added_user_signs_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.sqlite");
    let url = format!("sqlite:{}", path.display());
    let short = add_user(&url, "short");
    assert_eq!(short.status.code(), Some(1));
    let added = add_user(&url, "a long enough password");
    assert!(added.status.success(), "{added:?}");
    assert_eq!(
        String::from_utf8(added.stdout).unwrap(),
        "registered eve@example.com\n"
    );
    let again = add_user(&url, "a long enough password");
    assert_eq!(
        String::from_utf8(again.stderr).unwrap(),
        "the email address `eve@example.com` belongs to a user already\n"
    );
    let desk = Desk::open(Database::open(path).unwrap(), DemoClock::new());
    let desk = desk.await.unwrap();
    let known = async |password: &str| {
        let place = desk.hashing_place().unwrap();
        desk.authenticate(place, "eve@example.com", password.to_owned())
            .await
            .unwrap()
    };
    assert_eq!(known("a long enough password").await.unwrap().user.name, "Eve");
    assert!(known("another password").await.is_none());
}
