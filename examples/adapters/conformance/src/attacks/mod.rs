//! Raw requests that attack a server, with the behaviour that each requires of the server.
//!
//! [`withstands_all`] runs the attacks against an [`Adapter`]; a tool can [`run`] them against any
//! server.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use host_adapter_conformance::attacks::{self, Target};
//!
//! let target = Target {
//!     address: "127.0.0.1:8080".parse()?,
//!     host: "127.0.0.1:8080".to_owned(),
//!     path: "/".to_owned(),
//!     patience: Duration::from_secs(30),
//! };
//! for attack in attacks::all() {
//!     if let Err(finding) = attacks::run(&attack, &target) {
//!         println!("{} ({}): {finding}", attack.name, attack.section);
//!     }
//! }
//! # Ok::<(), std::net::AddrParseError>(())
//! ```

mod bodies;
mod cases;
mod heads;
mod responses;
mod run;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_server::Limits;

use crate::Adapter;
use crate::handlers::whole;
use crate::running::{Running, patient};

pub use self::{cases::all, run::run};

/// A server under attack.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a tool creates it")]
pub struct Target {
    /// Address of the server.
    pub address: SocketAddr,
    /// A `Host` that the server answers for.
    pub host: String,
    /// Path and query of a resource that answers GET and POST without a 5xx.
    pub path: String,
    /// Time limit of one attack. It must exceed each time limit of the server.
    pub patience: Duration,
}

/// One attack.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attack {
    /// Description of the bytes.
    pub name: &'static str,
    /// Section of the specification that the expectation follows.
    pub section: &'static str,
    /// Bytes that the attack sends. The placeholders `{host}` and `{path}` stand for those of the
    /// target.
    pub sends: Vec<u8>,
    /// Manner in which the bytes are sent.
    pub manner: Manner,
    /// Behaviour that is required of the server.
    pub expected: Expected,
}

/// Manner in which an attack sends its bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Manner {
    /// At once. Then the client waits.
    AtOnce,
    /// At once. Then the client closes its sending half.
    HalfClosed,
    /// At once. Then the client sends this byte every 200 ms.
    Dripping(u8),
    /// Repeatedly, while the client reads no response.
    Unread,
}

/// Behaviour that an attack requires of a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Expected {
    /// One response with one of the statuses. Then the server closes the connection, because it
    /// does not know where the request ends. A close without a response is accepted too.
    RefusedAndClosed(&'static [u16]),
    /// One response with one of the statuses.
    Refused(&'static [u16]),
    /// This number of responses, as to valid requests: none is 400, 408, 411, 431 or a server
    /// error.
    Answered(usize),
    /// Either [`RefusedAndClosed`](Self::RefusedAndClosed) with 400, or one response as in
    /// [`Answered`](Self::Answered).
    RefusedOrAnswered,
    /// At most one response, and no server error except 501: the server has seen no second request.
    OneRequest,
    /// Like [`OneRequest`](Self::OneRequest). Then the server closes the connection.
    OneThenClosed,
    /// The server closes the connection within [`Target::patience`].
    Closed,
}

/// Runs all attacks against the adapter.
///
/// `exceptions` lists the attacks that the framework does not let the adapter withstand: name and
/// reason.
///
/// # Panics
///
/// If the adapter does not withstand an attack that is not in `exceptions`, or withstands one that
/// is. The message lists all such attacks.
pub fn withstands_all(adapter: &Arc<Adapter>, exceptions: &[(&str, &str)]) {
    let limits = Limits {
        read_timeout: Duration::from_secs(2),
        write_timeout: Duration::from_secs(1),
        ..patient()
    };
    // of a size at which few responses fill the buffers of a connection
    let large = |_| std::future::ready(whole(vec![b'x'; 64 << 10]));
    let running = Running::start_with(adapter, limits, large);
    let target = Target {
        address: running.address,
        host: "desk.example".to_owned(),
        path: "/charges?limit=1".to_owned(),
        patience: Duration::from_secs(20),
    };
    let (attacks, findings) = (Mutex::new(all().into_iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                loop {
                    let Some(attack) = attacks.lock().unwrap().next() else {
                        return;
                    };
                    let is_exception = exceptions.iter().any(|(name, _)| *name == attack.name);
                    match run(&attack, &target) {
                        Err(finding) if !is_exception => {
                            let text = format!("{}: {finding}", attack.name);
                            findings.lock().unwrap().push(text);
                        }
                        Ok(()) if is_exception => {
                            let text = format!("{}: withstood, so it needs no exception", attack.name);
                            findings.lock().unwrap().push(text);
                        }
                        _ => {}
                    }
                }
            });
        }
    });
    let findings = findings.into_inner().unwrap();
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}
