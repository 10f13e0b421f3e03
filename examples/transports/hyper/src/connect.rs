//! Connects to one of several vetted addresses.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::select_ok;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Head start of an address before the next one is tried (RFC 8305 §5).
const STAGGER: Duration = Duration::from_millis(250);
/// Limit of connection attempts; all addresses are vetted.
const MAX_ATTEMPTS: usize = 4;

/// Connects to one of `addresses`, which is not empty.
pub(crate) async fn connect(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut wait = Duration::ZERO;
    let attempts = in_order(addresses).map(|address| {
        let head_start = wait;
        wait += STAGGER;
        Box::pin(async move {
            sleep(head_start).await;
            TcpStream::connect(address).await
        })
    });
    // vetting refuses an empty list, on which `select_ok` would panic
    let (connected, _) = select_ok(attempts).await?;
    connected.set_nodelay(true)?;
    Ok(connected)
}

/// The addresses to try, in this order.
pub(crate) fn in_order(addresses: &[SocketAddr]) -> impl Iterator<Item = SocketAddr> {
    interleaved(addresses).into_iter().take(MAX_ATTEMPTS)
}

/// Interleaves the address families in the resolver's order, so that a family without connectivity
/// does not use up the attempts ([RFC 8305 §4](https://www.rfc-editor.org/rfc/rfc8305#section-4)).
fn interleaved(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let preferred = addresses.first().map(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) = addresses
        .iter()
        .copied()
        .partition(|address| Some(address.is_ipv6()) == preferred);
    let mut turns = [first.into_iter(), second.into_iter()];
    let mut order = Vec::with_capacity(addresses.len());
    while order.len() < addresses.len() {
        order.extend(turns.iter_mut().filter_map(Iterator::next));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_families_take_turns_in_the_order_of_the_resolver() {
        for (given, expected) in [
            ("", ""),
            ("a", "a"),
            ("a b c", "a b c"),
            ("1 2", "1 2"),
            ("a b c 1", "a 1 b c"),
            ("a b 1 2", "a 1 b 2"),
            ("1 2 3 a b", "1 a 2 b 3"),
            ("1 a b", "1 a b"),
        ] {
            assert_eq!(interleaved(&addresses(given)), addresses(expected), "{given}");
        }
    }

    /// `1` is an IPv4 address, `a` an IPv6 address.
    fn addresses(short: &str) -> Vec<SocketAddr> {
        short
            .split_whitespace()
            .map(|short| match short.parse::<u8>() {
                Ok(number) => ([192, 0, 2, number], 443).into(),
                Err(_) => format!("[2001:db8::{short}]:443").parse().unwrap(),
            })
            .collect()
    }
}
