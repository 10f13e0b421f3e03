use std::net::SocketAddr;
use std::time::Duration;

use http_conventions::forwarding::TrustedProxies;

use super::*;
use crate::logging::LogFormat;

/// Parses a line beside these variables, and files of these contents.
pub(super) fn parse_with(
    line: &str,
    variables: &[(&str, &str)],
    files: &[(&str, &str)],
) -> Result<Command, UsageError> {
    let find = |all: &[(&str, &str)], name: &str| {
        let found = all.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| (*text).to_owned())
    };
    Command::parse(
        line.split_whitespace().map(str::to_owned),
        |name| find(variables, name),
        |path| find(files, path.to_str().unwrap()).ok_or_else(|| io::Error::other("not there")),
    )
}

fn parse(line: &str) -> Result<Command, UsageError> {
    parse_with(line, &[], &[])
}

pub(super) fn served(parsed: Result<Command, UsageError>) -> Options {
    match parsed.unwrap() {
        Command::Serve(options) => *options,
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_arguments_serve_with_defaults() {
    assert_eq!(parse(""), Ok(Command::Serve(Box::default())));
    assert_eq!(parse("--check"), Ok(Command::Check(Box::default())));
}

#[test]
fn help_names_every_setting() {
    let Ok(Command::Print(help)) = parse("--help") else {
        panic!()
    };
    for setting in SETTINGS {
        assert!(help.contains(&format!("--{}", setting.name)), "{help}");
    }
    let Ok(Command::Print(version)) = parse("--version") else {
        panic!()
    };
    assert_eq!(version, format!("service {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn tour_accepts_files_and_database() {
    let tour = |outputs, database| Ok(Command::Tour { outputs, database });
    let outputs = Outputs {
        record: Some(PathBuf::from("tour.json")),
        report: Some(PathBuf::from("tour.html")),
    };
    assert_eq!(parse("tour"), tour(Outputs::default(), None));
    assert_eq!(
        parse("tour --record tour.json --report tour.html"),
        tour(outputs, None)
    );
    let url = "postgres://desk:s3cret@db/tour";
    let database = DatabaseChoice::Postgres(ServerUrl(url.to_owned()));
    assert_eq!(database.to_string(), "`db:5432`");
    assert!(!format!("{database:?}").contains("s3cret"));
    assert_eq!(
        parse(&format!("tour --database {url}")),
        tour(Outputs::default(), Some(database))
    );
    assert!(parse("tour --database mysql:x").is_err());
}

#[test]
fn lock_names_account_and_database() {
    let lock = |is_locked, database| Command::SetLock {
        email: "ada@example.com".to_owned(),
        is_locked,
        database,
    };
    let file = || DatabaseChoice::File(PathBuf::from("x"));
    let default = Options::default().database;
    assert_eq!(parse("lock ada@example.com"), Ok(lock(true, default)));
    let unlock = "unlock ada@example.com";
    assert_eq!(
        parse(&format!("{unlock} --database sqlite:x")),
        Ok(lock(false, file()))
    );
    // the same database as the service's
    let variable = [("DESK_DATABASE", "sqlite:x")];
    assert_eq!(parse_with(unlock, &variable, &[]), Ok(lock(false, file())));
    let config = [("desk.toml", "database = 'sqlite:x'")];
    let line = format!("{unlock} --config desk.toml");
    assert_eq!(parse_with(&line, &[], &config), Ok(lock(false, file())));
}

#[test]
fn added_user_has_address_name_and_database() {
    let added = Ok(Command::AddUser {
        email: "eve@example.com".to_owned(),
        name: "Eve".to_owned(),
        database: DatabaseChoice::File(PathBuf::from("x")),
    });
    assert_eq!(parse("add-user eve@example.com Eve --database sqlite:x"), added);
    assert!(parse("add-user eve@example.com").is_err());
}

fn every_option() -> Options {
    Options {
        listen: SocketAddr::from(([0, 0, 0, 0], 1)),
        database: DatabaseChoice::Memory,
        sign_in_as: Some("ada@example.com".to_owned()),
        trusted_documents: Some(PathBuf::from("list.json")),
        cross_origins: ["https://a.example", "https://b.example"]
            .map(str::to_owned)
            .to_vec(),
        redis: Some(ServerUrl("redis://:s3cret@127.0.0.1".to_owned())),
        other_apis: vec!["https://a.example".to_owned()],
        other_scopes: "read:orders write:orders".parse().unwrap(),
        clients: Vec::new(),
        no_demo: true,
        key_rotation: Duration::from_secs(30 * 86_400),
        opaque_tokens: true,
        base_url: Some("https://desk.example.com".to_owned()),
        trusted_proxies: TrustedProxies::new().with_network("10.0.0.0/8").unwrap(),
        allowed_hosts: vec!["desk.internal".to_owned()],
        tls: Some(TlsFiles {
            certificate: "chain.pem".into(),
            key: "key.pem".into(),
        }),
        operator_listen: Some(SocketAddr::from(([10, 0, 0, 1], 9090))),
        log: "warn,service::request=info".parse().unwrap(),
        log_format: LogFormat::Json,
        drain_delay: Duration::from_secs(3),
        drain_timeout: Duration::from_secs(30),
    }
}

const FILE: &str = r#"
listen = "0.0.0.0:1"
database = "sqlite::memory:"
sign-in-as = "ada@example.com"
trusted-documents = "list.json"
allow-origin = ["https://a.example", "https://b.example"]
redis-file = "/run/secrets/redis"
api = "https://a.example"
scope = ["read:orders", "write:orders"]
no-demo = true
opaque-tokens = true
key-rotation = 30
base-url = "https://desk.example.com"
trusted-proxy = ["10.0.0.0/8"]
allowed-host = ["desk.internal"]
tls-cert = "chain.pem"
tls-key = "key.pem"
operator-listen = "10.0.0.1:9090"
log = "warn,service::request=info"
log-format = "json"
drain-delay = 3
drain-timeout = "30"
"#;

/// X7: a setting is the same as a flag, in the file and in the environment.
#[test]
fn each_source_sets_each_option() {
    let line = "--listen 0.0.0.0:1 --database sqlite::memory: --sign-in-as ada@example.com \
                --trusted-documents list.json --allow-origin https://a.example \
                --allow-origin=https://b.example --redis redis://:s3cret@127.0.0.1 \
                --api https://a.example --opaque-tokens --base-url https://desk.example.com \
                --trusted-proxy 10.0.0.0/8 --allowed-host desk.internal --tls-cert chain.pem \
                --tls-key key.pem --operator-listen 10.0.0.1:9090 --log warn,service::request=info \
                --log-format json --drain-delay 3 --drain-timeout 30 --scope read:orders \
                --scope write:orders --no-demo --key-rotation 30";
    assert_eq!(served(parse(line)), every_option());
    let variables = [
        ("DESK_LISTEN", "0.0.0.0:1"),
        ("DESK_DATABASE", "sqlite::memory:"),
        ("DESK_SIGN_IN_AS", "ada@example.com"),
        ("DESK_TRUSTED_DOCUMENTS", "list.json"),
        ("DESK_ALLOW_ORIGIN", "https://a.example, https://b.example"),
        ("DESK_REDIS", "redis://:s3cret@127.0.0.1"),
        ("DESK_API", "https://a.example"),
        ("DESK_SCOPE", "read:orders,write:orders"),
        ("DESK_NO_DEMO", "true"),
        ("DESK_KEY_ROTATION", "30"),
        ("DESK_OPAQUE_TOKENS", "true"),
        ("DESK_BASE_URL", "https://desk.example.com"),
        ("DESK_TRUSTED_PROXY", "10.0.0.0/8"),
        ("DESK_ALLOWED_HOST", "desk.internal"),
        ("DESK_TLS_CERT", "chain.pem"),
        ("DESK_TLS_KEY", "key.pem"),
        ("DESK_OPERATOR_LISTEN", "10.0.0.1:9090"),
        ("DESK_LOG", "warn,service::request=info"),
        ("DESK_LOG_FORMAT", "json"),
        ("DESK_DRAIN_DELAY", "3"),
        ("DESK_DRAIN_TIMEOUT", "30"),
        // of a cluster with a service called `desk`
        ("DESK_SERVICE_HOST", "10.0.0.9"),
    ];
    assert_eq!(served(parse_with("", &variables, &[])), every_option());
    let files = [
        ("desk.toml", FILE),
        ("/run/secrets/redis", "redis://:s3cret@127.0.0.1\n"),
    ];
    assert_eq!(
        served(parse_with("--config desk.toml", &[], &files)),
        every_option()
    );
    let by_variable = [("DESK_CONFIG", "desk.toml")];
    assert_eq!(served(parse_with("", &by_variable, &files)), every_option());
    assert!(!format!("{:?}", every_option()).contains("s3cret"));
}

/// X7: a flag replaces a variable, which replaces the file; also a list as a whole.
#[test]
fn flag_replaces_variable_and_variable_file() {
    let file = [(
        "f",
        "listen = '127.0.0.1:1'\nlog = 'warn'\napi = ['https://a.example', 'https://b.example']",
    )];
    let variables = [("DESK_LISTEN", "127.0.0.1:2"), ("DESK_API", "https://c.example")];
    let options = served(parse_with("--config f --listen 127.0.0.1:3", &variables, &file));
    assert_eq!(options.listen.port(), 3);
    assert_eq!(options.log, "warn".parse().unwrap());
    assert_eq!(options.other_apis, ["https://c.example"]);
    // an empty variable is not set
    let options = served(parse_with("--config f", &[("DESK_LISTEN", "")], &file));
    assert_eq!(options.listen.port(), 1);
}

/// X7: every mistake is named, in the words of its source.
#[test]
fn every_mistake_is_named_at_its_source() {
    let file = "listen = 8080\nlisen = 1\nallow-origin = [1]\nopaque-tokens = 'yes'\ndrain-delay = 3601";
    let refused = parse_with(
        "--check --config f --database mysql:x --tls-cert a.pem --redis redis://x --redis-file none",
        &[("DESK_LOG_FORMAT", "xml"), ("DESK_TRUSTED_PROXY", "10.0.0.1,all")],
        &[("f", file)],
    );
    let expected = [
        "`allow-origin` in f: the value is not a list of strings",
        "`lisen` in f: no setting has this name; see --help",
        "`opaque-tokens` in f: the value is not true or false",
        "`listen` in f: `8080` is not an address with a port, for example 127.0.0.1:8080",
        "--database: `mysql:x` is not sqlite:FILE, sqlite::memory: or postgres://USER@HOST/NAME",
        "DESK_TRUSTED_PROXY: `all` is not an address or a network, for example 10.0.0.0/8",
        "DESK_LOG_FORMAT: `xml` is not pretty or json",
        "`drain-delay` in f: `3601` is not a number of seconds up to 3600",
        "--tls-cert: the private key is missing; add --tls-key FILE",
        "--redis-file: the URL is given twice; remove --redis",
        "--redis-file: cannot read `none`: not there",
    ];
    let lines = refused.unwrap_err().to_string();
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn invalid_command_line_names_the_argument() {
    let url = "is not an https URL without a path, for example https://desk.example.com";
    for (line, expected) in [
        ("--listen", "error: a value is required for '--listen <ADDRESS>' but none was supplied".to_owned()),
        ("--listen here", "--listen: `here` is not an address with a port, for example 127.0.0.1:8080".to_owned()),
        ("--database sqlite:", "--database: `sqlite:` is not sqlite:FILE, sqlite::memory: or postgres://USER@HOST/NAME".to_owned()),
        (
            "--allowed-host desk/1",
            "--allowed-host: `desk/1` is not a host with an optional port, for example desk.internal:8080".to_owned(),
        ),
        ("--base-url desk.example.com", format!("--base-url: `desk.example.com` {url}")),
        ("--base-url http://desk.example.com", format!("--base-url: `http://desk.example.com` {url}")),
        ("--base-url https://desk.example.com/", format!("--base-url: `https://desk.example.com/` {url}")),
        ("--base-url https://desk.example.com:443", format!("--base-url: `https://desk.example.com:443` {url}")),
        ("--base-url http://127.0.0.1:80", format!("--base-url: `http://127.0.0.1:80` {url}")),
        ("--tls-key a.pem", "--tls-key: the certificate is missing; add --tls-cert FILE".to_owned()),
        ("--config none", "--config: cannot read `none`: not there".to_owned()),
        ("--key-rotation 1", "--key-rotation: `1` is not a number of days from 2 to 365".to_owned()),
        ("--log loud", "--log: `loud` is not a level such as info, or levels by target such as warn,service::request=info".to_owned()),
        ("serve", "error: unrecognized subcommand 'serve'".to_owned()),
        ("--lisen x", "error: unexpected argument '--lisen' found".to_owned()),
        ("tour --listen 127.0.0.1:1", "error: unexpected argument '--listen' found".to_owned()),
        ("--record tour.json", "error: unexpected argument '--record' found".to_owned()),
        ("schema --sign-in-as a", "error: unexpected argument '--sign-in-as' found".to_owned()),
        ("--opaque-tokens tour", "error: the subcommand 'tour' cannot be used with '--opaque-tokens'".to_owned()),
        ("lock", "error: the following required arguments were not provided:".to_owned()),
        ("unlock a --opaque-tokens", "error: unexpected argument '--opaque-tokens' found".to_owned()),
    ] {
        let refused = parse(line).unwrap_err().to_string();
        assert_eq!(refused.lines().next().unwrap(), expected, "{line}");
    }
}

/// X7: a file that is no TOML is named with its line.
#[test]
fn syntax_error_names_its_line() {
    let refused = parse_with("--config f", &[], &[("f", "log = 'info'\n\nlisten 1\n")]);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.starts_with("f: line 3: "), "{refused}");
}
