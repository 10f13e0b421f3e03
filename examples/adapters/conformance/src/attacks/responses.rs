//! Parser of the responses on one connection.

/// Responses that a server has sent.
#[derive(Debug, Default)]
pub(super) struct Responses {
    /// Statuses of the complete final responses.
    pub(super) finals: Vec<u16>,
    /// Number of interim responses (1xx).
    pub(super) interim: usize,
    /// Bytes after the last complete response.
    pub(super) rest: usize,
}

/// Splits the bytes of a connection into responses. A response without a length ends with the
/// connection.
pub(super) fn split(mut bytes: &[u8], is_closed: bool) -> Responses {
    let mut responses = Responses::default();
    while let Some((status, length)) = first(bytes, is_closed) {
        match status {
            100..200 => responses.interim += 1,
            _ => responses.finals.push(status),
        }
        bytes = bytes.get(length..).unwrap_or_default();
    }
    responses.rest = bytes.len();
    responses
}

/// Status and length of the first response, if it is complete.
fn first(bytes: &[u8], is_closed: bool) -> Option<(u16, usize)> {
    let head_length = find(bytes, b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(bytes.get(..head_length)?).ok()?;
    let head = head.to_ascii_lowercase();
    let status = head.split(' ').nth(1)?.get(..3)?.parse().ok()?;
    let field = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(':'));
        lines
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value.trim())
    };
    let rest = bytes.get(head_length..)?;
    let content = match (status, field("content-length"), field("transfer-encoding")) {
        (100..200 | 204 | 304, ..) => 0,
        (_, Some(length), _) => length.parse().ok()?,
        (_, None, Some(_)) => chunked(rest)?,
        _ if is_closed => rest.len(),
        _ => return None,
    };
    (rest.len() >= content).then_some((status, head_length + content))
}

/// Length of a chunked body, if it is complete.
fn chunked(body: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let line = body.get(at..)?;
        let end = find(line, b"\r\n")?;
        let size = std::str::from_utf8(line.get(..end)?).ok()?;
        let size = usize::from_str_radix(size, 16).ok()?;
        at += end + 2 + size + 2;
        if size == 0 {
            return (body.len() >= at).then_some(at);
        }
    }
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes.windows(pattern.len()).position(|window| window == pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_split() {
        let check = |text: &str, is_closed, finals: &[u16], rest| {
            let found = split(text.as_bytes(), is_closed);
            assert_eq!((&*found.finals, found.rest), (finals, rest), "{text}");
        };
        let whole = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";
        check(whole, false, &[200], 0);
        check(&[whole, whole].concat(), false, &[200, 200], 0);
        check(whole.strip_suffix('i').unwrap(), false, &[], whole.len() - 1);
        let chunked = "HTTP/1.1 404 X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
        check(&[chunked, whole].concat(), false, &[404, 200], 0);
        check("HTTP/1.1 100 Continue\r\n\r\n", false, &[], 0);
        check("HTTP/1.1 304 X\r\ncontent-length: 9\r\n\r\n", false, &[304], 0);
        check("HTTP/1.0 200 OK\r\n\r\nhi", true, &[200], 0);
        check("HTTP/1.0 200 OK\r\n\r\nhi", false, &[], 21);
    }
}
