//! Hosts that a server answers for.

use std::net::Ipv6Addr;

use http::{Request, Version, header::HOST};
use thiserror::Error;

use crate::errors::{ErrorStatus, Problem};

/// Hosts that a server answers for: a check of `Host` ([RFC 9112
/// §3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2)) and of the authority in the request
/// target.
///
/// An entry without a port allows every port of its host. An entry with the port 80 or 443 also
/// allows a request without a port. Hosts are compared without case and without a final dot.
///
/// ```
/// use http::Request;
/// use http_conventions::routing::{AllowedHosts, HostRefusal};
///
/// let hosts = AllowedHosts::parse(["api.example.com", "127.0.0.1:8080"])?;
/// let check = |host: &str| hosts.check(&Request::get("/").header("host", host).body(()).unwrap());
/// assert_eq!(check("API.example.com:443"), Ok(()));
/// assert_eq!(check("127.0.0.1:8080"), Ok(()));
/// assert_eq!(check("rebound.example"), Err(HostRefusal::Misdirected));
/// assert_eq!(check("user@api.example.com"), Err(HostRefusal::Malformed));
/// # Ok::<(), http_conventions::routing::InvalidHost>(())
/// ```
///
/// # Security
///
/// A server on a private address that answers for any host is open to DNS rebinding: a web page
/// lets its own name resolve to that address, and then reads the responses as its own.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts {
    /// Empty if every host is allowed.
    entries: Vec<Host>,
}

/// Host in lower case, without a final dot, with its port.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Host {
    name: String,
    port: Option<u16>,
}

/// Refusal of a request by its host.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the request has no valid host, or it has another one"
)]
pub enum HostRefusal {
    /// The request has no host, several hosts, or an invalid one: 400.
    #[error("the request needs exactly one valid host")]
    Malformed,
    /// The server does not answer for the host: 421 ([RFC 9110
    /// §15.5.20](https://www.rfc-editor.org/rfc/rfc9110#section-15.5.20)).
    #[error("this server does not answer for the host of the request")]
    Misdirected,
}

impl HostRefusal {
    /// Creates the problem of the response.
    #[must_use]
    pub fn problem(self) -> Problem {
        let status = match self {
            Self::Malformed => ErrorStatus::BAD_REQUEST,
            Self::Misdirected => ErrorStatus::MISDIRECTED_REQUEST,
        };
        Problem::new(status).with_detail(self.to_string())
    }
}

/// Text that is no host with an optional port.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("invalid host `{0}`: write `api.example.com` or `[::1]:8080`")]
pub struct InvalidHost(String);

impl AllowedHosts {
    /// Allows every valid host.
    #[must_use]
    pub const fn any() -> Self {
        Self { entries: Vec::new() }
    }

    /// Parses the list of hosts. An empty list allows every valid host.
    ///
    /// # Errors
    ///
    /// [`InvalidHost`] for an entry that is no host with an optional port.
    pub fn parse<S: AsRef<str>>(hosts: impl IntoIterator<Item = S>) -> Result<Self, InvalidHost> {
        let entries = hosts.into_iter().map(|host| {
            let host = host.as_ref();
            Host::parse(host.as_bytes()).ok_or_else(|| InvalidHost(host.to_owned()))
        });
        Ok(Self {
            entries: entries.collect::<Result<_, _>>()?,
        })
    }

    /// Checks the host of a request: the authority in its target, or else `Host`.
    ///
    /// A request of HTTP/1.1 must have exactly one `Host`, also if its target has an authority. In
    /// HTTP/2 and HTTP/3, a `Host` must equal the authority.
    ///
    /// # Errors
    ///
    /// [`HostRefusal`].
    pub fn check<B>(&self, request: &Request<B>) -> Result<(), HostRefusal> {
        let parse = |text: &[u8]| Host::parse(text).ok_or(HostRefusal::Malformed);
        let mut fields = request.headers().get_all(HOST).iter();
        let field = fields.next().map(|value| parse(value.as_bytes())).transpose()?;
        let authority = request.uri().authority();
        let target = authority
            .map(|target| parse(target.as_str().as_bytes()))
            .transpose()?;
        let version = request.version();
        let is_missing = field.is_none() && version == Version::HTTP_11;
        let differs = version > Version::HTTP_11 && field.is_some() && target.is_some() && field != target;
        if fields.next().is_some() || is_missing || differs {
            return Err(HostRefusal::Malformed);
        }
        match target.or(field) {
            Some(host) if self.allows(&host) => Ok(()),
            Some(_) => Err(HostRefusal::Misdirected),
            // before HTTP/1.1 a request may have no host
            None if version < Version::HTTP_11 && self.entries.is_empty() => Ok(()),
            None if version < Version::HTTP_11 => Err(HostRefusal::Misdirected),
            None => Err(HostRefusal::Malformed),
        }
    }

    fn allows(&self, host: &Host) -> bool {
        let has_default_port = host.port.is_none();
        self.entries.is_empty()
            || self.entries.iter().any(|entry| {
                entry.name == host.name
                    && match entry.port {
                        None => true,
                        Some(80 | 443) if has_default_port => true,
                        port => port == host.port,
                    }
            })
    }
}

impl Host {
    /// Parses `uri-host [ ":" port ]`, [RFC 3986
    /// §3.2.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2).
    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (name, port) = match text.strip_prefix('[') {
            Some(literal) => {
                let (address, rest) = literal.split_once(']')?;
                let address: Ipv6Addr = address.parse().ok()?;
                (format!("[{address}]"), rest)
            }
            None => {
                let end = text.find(':').unwrap_or(text.len());
                let (name, rest) = text.split_at_checked(end)?;
                if !is_registered_name(name.as_bytes()) {
                    return None;
                }
                let name = name.to_ascii_lowercase();
                (name.strip_suffix('.').unwrap_or(&name).to_owned(), rest)
            }
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            Some("") => None,
            Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => Some(digits.parse().ok()?),
            _ => return None,
        };
        (!name.is_empty()).then_some(Self { name, port })
    }
}

fn is_registered_name(name: &[u8]) -> bool {
    let mut bytes = name.iter();
    while let Some(byte) = bytes.next() {
        let is_valid = match byte {
            b'%' => {
                let digits = [bytes.next(), bytes.next()];
                digits
                    .iter()
                    .all(|digit| digit.is_some_and(u8::is_ascii_hexdigit))
            }
            byte => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte),
        };
        if !is_valid {
            return false;
        }
    }
    !name.is_empty()
}
