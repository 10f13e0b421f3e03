//! Load: as many requests as a server answers, on a few open connections.

use std::{cell::Cell, collections::BTreeMap, time::Instant};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use benches::Served;
use futures_util::future::join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) const CLIENT: &str = "bench";
pub(crate) const SECRET: &str = "the-secret-of-the-bench-and-of-no-one-else";
pub(crate) const CALLBACK: &str = "https://app.example/callback";
/// Scopes of the client.
pub(crate) const SCOPES: &str = "openid read:charges";

/// Verifier and challenge of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const CONNECTIONS: usize = 16;
/// Warm-up in seconds of the server's processor time, which other programs do not shorten.
const WARM_UP: f64 = 3.0;
const MEASURED: f64 = 2.0;

/// Work of one answer. All tokens beside the client credentials are opaque, and the ID tokens of
/// the other two grants are EdDSA.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// One access token.
    ClientCredentials,
    /// Introspection of one access token.
    Introspection,
    /// Rotation of a refresh token, with a new access token and ID token.
    Refresh,
    /// Silent renewal: an authorization request with `prompt=none` in a browser with a session, and
    /// the redemption of its code for an access token, a refresh token and an ID token. The answer
    /// counts once for both requests.
    Renewal,
}

impl Work {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ClientCredentials => "client credentials",
            Self::Introspection => "introspection",
            Self::Refresh => "refresh",
            Self::Renewal => "silent renewal",
        }
    }
}

/// Paths of the endpoints that differ between the servers.
pub(crate) struct Paths {
    authorize: &'static str,
    introspect: &'static str,
}

impl Paths {
    pub(crate) const OURS: Self = Self {
        authorize: "/authorize",
        introspect: "/introspect",
    };
    pub(crate) const PEER: Self = Self {
        authorize: "/auth",
        introspect: "/token/introspection",
    };
}

/// Measured rate of a server.
#[derive(Clone, Copy)]
pub(crate) struct Rate {
    /// Responses per second.
    pub(crate) wall: f64,
    /// Responses per second of the server's processor time, independent of other programs on the
    /// core.
    pub(crate) processor: f64,
    /// Microseconds of the server's user time per response.
    pub(crate) user: f64,
}

/// Measures a server.
pub(crate) async fn rate(server: &Served, work: Work, paths: &Paths) -> Rate {
    let port = server.port();
    let (over, answered) = (Cell::new(false), Cell::new(0_u32));
    let browser = match work {
        Work::Refresh | Work::Renewal => sign_in(port, paths).await,
        _ => Browser::default(),
    };
    let lane = async || {
        let mut connection = Connection::open(port).await;
        let mut task = Task::begin(&mut connection, work, paths, &browser).await;
        while !over.get() {
            task.run(&mut connection).await;
            answered.set(answered.get() + 1);
        }
    };
    let watch = async {
        let start = server.work(WARM_UP).await;
        let (begin, warm) = (Instant::now(), answered.get());
        let end = server.work(MEASURED).await;
        let answered = f64::from(answered.get() - warm);
        over.set(true);
        Rate {
            wall: answered / begin.elapsed().as_secs_f64(),
            processor: answered / (end.whole() - start.whole()),
            user: (end.user - start.user) / answered * 1e6,
        }
    };
    tokio::join!(join_all((0..CONNECTIONS).map(|_| lane())), watch).1
}

/// The work of one connection.
enum Task {
    /// The same request each time.
    Same(Vec<u8>),
    /// The current refresh token.
    Refresh(String),
    /// The authorization request.
    Renewal(Vec<u8>),
}

impl Task {
    async fn begin(connection: &mut Connection, work: Work, paths: &Paths, browser: &Browser) -> Self {
        let issue = post("/token", "grant_type=client_credentials&scope=read:charges");
        match work {
            Work::ClientCredentials => Self::Same(issue),
            Work::Introspection => {
                let token = member(connection.ask(&issue).await, "access_token");
                let request = post(paths.introspect, &format!("token={token}"));
                assert!(connection.ask(&request).await.contains("\"active\":true"));
                Self::Same(request)
            }
            Work::Refresh => Self::Refresh(renew(connection, &browser.silent).await),
            Work::Renewal => Self::Renewal(browser.silent.clone()),
        }
    }

    async fn run(&mut self, connection: &mut Connection) {
        match self {
            Self::Same(request) => {
                connection.ask(request).await;
            }
            Self::Refresh(token) => {
                let form = format!("grant_type=refresh_token&refresh_token={token}");
                let next = member(connection.ask(&post("/token", &form)).await, "refresh_token");
                assert_ne!(next, *token, "the server does not rotate");
                *token = next;
            }
            Self::Renewal(authorize) => drop(renew(connection, authorize).await),
        }
    }
}

/// Gets a code without a page, and redeems it. Returns the refresh token.
async fn renew(connection: &mut Connection, authorize: &[u8]) -> String {
    let answer = connection.answer(authorize).await;
    let location = header(answer, "location").next().unwrap_or_default();
    let code = code(location).unwrap_or_else(|| panic!("no code: {answer}"));
    redeem(connection, &code).await
}

async fn redeem(connection: &mut Connection, code: &str) -> String {
    let callback = CALLBACK.replace(':', "%3A").replace('/', "%2F");
    let form =
        format!("grant_type=authorization_code&code={code}&redirect_uri={callback}&code_verifier={VERIFIER}");
    let answer = connection.ask(&post("/token", &form)).await;
    assert!(answer.contains("\"id_token\""), "{answer}");
    member(answer, "refresh_token")
}

/// A browser with a session, whose user has consented.
#[derive(Default)]
struct Browser {
    /// Authorization request with `prompt=none` and the cookies of the session.
    silent: Vec<u8>,
}

/// Follows the redirects of an authorization request until it has a code.
async fn sign_in(port: u16, paths: &Paths) -> Browser {
    let mut connection = Connection::open(port).await;
    let callback = CALLBACK.replace(':', "%3A").replace('/', "%2F");
    let first = format!(
        "{}?response_type=code&client_id={CLIENT}&redirect_uri={callback}&scope=openid+read%3Acharges\
         &state=s&code_challenge={CHALLENGE}&code_challenge_method=S256",
        paths.authorize
    );
    let (mut place, mut cookies) = (first.clone(), BTreeMap::new());
    for _ in 0..6 {
        let answer = connection.answer(&get(&place, &cookies)).await;
        for cookie in header(answer, "set-cookie") {
            let (name, rest) = cookie.split_once('=').expect("a cookie");
            let value = rest.split(';').next().unwrap_or_default();
            match value {
                "" => cookies.remove(name),
                value => cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        let location = header(answer, "location").next();
        let location = location.unwrap_or_else(|| panic!("no redirect: {answer}"));
        if let Some(code) = code(location) {
            redeem(&mut connection, &code).await;
            let silent = get(&format!("{first}&prompt=none"), &cookies);
            return Browser { silent };
        }
        // the servers name themselves with or without an authority
        let path = location.split_once("://").map_or(location, |(_, rest)| rest);
        let start = path.find('/').expect("a path");
        place = path.get(start..).unwrap_or_default().to_owned();
    }
    panic!("no code after six redirects");
}

/// The code in the query of the callback.
fn code(location: &str) -> Option<String> {
    let query = location.strip_prefix(CALLBACK)?.strip_prefix('?')?;
    let code = query.split('&').find_map(|pair| pair.strip_prefix("code="));
    code.map(str::to_owned)
}

/// A member of a JSON document whose value is a string without escapes.
fn member(answer: &str, name: &str) -> String {
    let value = answer.split(&format!("\"{name}\":\"")).nth(1);
    let value = value.and_then(|rest| rest.split('"').next());
    value.unwrap_or_else(|| panic!("no {name}: {answer}")).to_owned()
}

/// The values of a header, with the name in lower case.
fn header<'a>(answer: &'a str, name: &'static str) -> impl Iterator<Item = &'a str> {
    let head = answer.split("\r\n\r\n").next().unwrap_or_default();
    head.lines().filter_map(move |line| {
        let (sent, value) = line.split_once(": ")?;
        sent.eq_ignore_ascii_case(name).then_some(value)
    })
}

fn get(path: &str, cookies: &BTreeMap<String, String>) -> Vec<u8> {
    let cookies: Vec<_> = cookies
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let cookies = cookies.join("; ");
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\ncookie: {cookies}\r\n\r\n").into_bytes()
}

/// A form of the only client, authenticated with `client_secret_basic`.
fn post(path: &str, form: &str) -> Vec<u8> {
    let credentials = BASE64_STANDARD.encode(format!("{CLIENT}:{SECRET}"));
    let length = form.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Basic {credentials}\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{form}"
    )
    .into_bytes()
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a server");
        stream.set_nodelay(true).expect("a socket");
        Self {
            stream,
            buffer: Vec::with_capacity(4096),
        }
    }

    /// Sends a request and reads the response, which must be a 200.
    async fn ask(&mut self, request: &[u8]) -> &str {
        let answer = self.answer(request).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer
    }

    /// Sends a request and reads the response, which must have a length.
    async fn answer(&mut self, request: &[u8]) -> &str {
        self.buffer.clear();
        self.stream.write_all(request).await.expect("sent");
        loop {
            let read = self.stream.read_buf(&mut self.buffer).await.expect("an answer");
            let text = str::from_utf8(&self.buffer).expect("text");
            assert!(read > 0, "the server hangs up: {text}");
            if is_whole(text) {
                break;
            }
        }
        str::from_utf8(&self.buffer).expect("text")
    }
}

fn is_whole(answer: &str) -> bool {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        return false;
    };
    let length = header(head, "content-length").next();
    let length: usize = length.and_then(|length| length.parse().ok()).expect("a length");
    body.len() >= length
}
