//! Runs one attack over a socket.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::responses::{Responses, split};
use super::{Attack, Expected, Manner, Target};

/// Time without a byte after which the client expects no further response.
const QUIET: Duration = Duration::from_millis(300);
/// Pause between the bytes of a dripping client.
const DRIP: Duration = Duration::from_millis(200);

/// Runs one attack against a server.
///
/// # Errors
///
/// Description of the expected and the observed behaviour.
pub fn run(attack: &Attack, target: &Target) -> Result<(), String> {
    let mut socket =
        TcpStream::connect(target.address).map_err(|error| format!("the server does not accept: {error}"))?;
    let failed = |error: std::io::Error| format!("the socket fails: {error}");
    socket.set_nodelay(true).map_err(failed)?;
    socket.set_write_timeout(Some(QUIET)).map_err(failed)?;
    socket.set_read_timeout(Some(QUIET)).map_err(failed)?;
    let bytes = filled(&attack.sends, target);
    let begun = Instant::now();
    let is_over = |begun: Instant| begun.elapsed() >= target.patience;
    if attack.manner == Manner::Unread {
        return unread(&mut socket, &bytes, target);
    }
    // a server may close the connection before it has read everything
    let _closed = socket.write_all(&bytes);
    if attack.manner == Manner::HalfClosed {
        let _closed = socket.shutdown(Shutdown::Write);
    }
    let mut conversation = Conversation::default();
    while !conversation.is_closed && !is_over(begun) {
        if let Manner::Dripping(byte) = attack.manner {
            let _closed = socket.write_all(&[byte]);
            std::thread::sleep(DRIP);
        }
        let is_quiet = !conversation.read(&mut socket);
        if is_quiet && attack.expected.is_settled(&conversation.responses()) {
            break;
        }
    }
    attack.expected.judge(&conversation)
}

/// Sends requests and reads nothing until the server closes the connection.
fn unread(socket: &mut TcpStream, bytes: &[u8], target: &Target) -> Result<(), String> {
    let begun = Instant::now();
    while begun.elapsed() < target.patience {
        match socket.write_all(bytes) {
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ok(());
            }
            _ => {}
        }
    }
    Err(format!(
        "a client that reads nothing is still connected after {:?}",
        target.patience
    ))
}

fn filled(template: &[u8], target: &Target) -> Vec<u8> {
    let mut filled = Vec::with_capacity(template.len());
    let mut rest = template;
    while let Some((&first, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(b"{host}") {
            filled.extend_from_slice(target.host.as_bytes());
            rest = after;
        } else if let Some(after) = rest.strip_prefix(b"{path}") {
            filled.extend_from_slice(target.path.as_bytes());
            rest = after;
        } else {
            filled.push(first);
            rest = after;
        }
    }
    filled
}

/// Bytes received on a connection.
#[derive(Default)]
struct Conversation {
    received: Vec<u8>,
    is_closed: bool,
}

impl Conversation {
    /// Reads the bytes that have arrived. Returns `false` if none arrive within [`QUIET`], or if
    /// the server has closed the connection.
    fn read(&mut self, socket: &mut TcpStream) -> bool {
        let mut buffer = [0; 16 << 10];
        match socket.read(&mut buffer) {
            Ok(0) => self.is_closed = true,
            Ok(length) => {
                self.received.extend(buffer.iter().take(length));
                return true;
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_reset) => self.is_closed = true,
        }
        false
    }

    fn responses(&self) -> Responses {
        split(&self.received, self.is_closed)
    }
}

impl Expected {
    /// Returns `true` if nothing more needs to happen.
    fn is_settled(self, responses: &Responses) -> bool {
        let is_answered = !responses.finals.is_empty();
        match self {
            Self::RefusedAndClosed(_) | Self::OneThenClosed | Self::Closed => false,
            Self::RefusedOrAnswered => is_answered && responses.finals != [400],
            Self::Refused(_) | Self::OneRequest => is_answered,
            Self::Answered(count) => responses.finals.len() >= count,
        }
    }

    fn judge(self, conversation: &Conversation) -> Result<(), String> {
        let responses = conversation.responses();
        let (finals, is_closed) = (&*responses.finals, conversation.is_closed);
        let is_valid = |status: &u16| !matches!(status, 400 | 408 | 411 | 431 | 500..);
        let is_one = finals.len() <= 1 && finals.iter().all(|status| *status < 500 || *status == 501);
        let is_met = match self {
            Self::RefusedAndClosed(statuses) => {
                is_closed && finals.len() <= 1 && finals.iter().all(|status| statuses.contains(status))
            }
            Self::Refused(statuses) => {
                finals.len() == 1 && finals.iter().all(|status| statuses.contains(status))
            }
            Self::Answered(count) => finals.len() == count && finals.iter().all(is_valid),
            Self::RefusedOrAnswered => match finals {
                [] | [400] => is_closed,
                [status] => is_valid(status),
                _ => false,
            },
            Self::OneRequest => is_one,
            Self::OneThenClosed => is_one && is_closed,
            Self::Closed => is_closed,
        };
        let is_body_invited = matches!(self, Self::Refused([413])) && responses.interim > 0;
        match is_met && !is_body_invited {
            true => Ok(()),
            false => Err(format!(
                "expected {self:?}, got {finals:?}, {} interim responses, {} further bytes, {}",
                responses.interim,
                responses.rest,
                if is_closed { "closed" } else { "open" },
            )),
        }
    }
}
