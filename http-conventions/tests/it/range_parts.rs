//! Parts of a content, read as a client reads them.

use bytes::Bytes;
use http::Response;
use http_conventions::content::{ByteRange, RangeDecision};
use proptest::prelude::*;

use crate::ranges::{ask, content};

/// Parts of a multipart content as a client reads them: by boundary and `Content-Range` alone.
fn parts(answer: &Response<Bytes>) -> Vec<(usize, Vec<u8>)> {
    let content_type = answer.headers()["content-type"].to_str().unwrap();
    let Some((_, boundary)) = content_type.split_once("boundary=") else {
        let range = answer.headers()["content-range"].to_str().unwrap();
        return vec![(first_of(range), answer.body().to_vec())];
    };
    let mut rest = &answer.body()[..];
    let mut parts = Vec::new();
    loop {
        let open = format!("--{boundary}");
        rest = rest.strip_prefix(open.as_bytes()).unwrap();
        if rest == b"--\r\n" {
            return parts;
        }
        let end = rest.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let (head, body) = rest.split_at(end + 4);
        let mut lines = std::str::from_utf8(head).unwrap().lines();
        let range = lines.find_map(|line| line.strip_prefix("Content-Range: "));
        let (bytes, after) = body.split_at(length_of(range.unwrap()));
        parts.push((first_of(range.unwrap()), bytes.to_vec()));
        rest = after.strip_prefix(b"\r\n").unwrap();
    }
}

fn first_of(range: &str) -> usize {
    let (first, _) = range.strip_prefix("bytes ").unwrap().split_once('-').unwrap();
    first.parse().unwrap()
}

fn length_of(range: &str) -> usize {
    let (_, last) = range.split_once('-').unwrap();
    let last: usize = last.split_once('/').unwrap().0.parse().unwrap();
    last + 1 - first_of(range)
}

proptest! {
    /// H32: the parts of a response have the bytes of the content at their places, do not overlap,
    /// and contain each requested byte.
    #[test]
    fn parts_have_the_requested_bytes(
        length in 1..3000_usize,
        asked in proptest::collection::vec((0..3500_usize, 0..600_usize, 0..3_u8), 1..12),
    ) {
        let content = content(length);
        let mut needed = vec![false; length];
        let specs: Vec<String> = asked.iter().map(|(first, more, kind)| {
            let (range, spec) = match kind {
                0 => (*first..first + more + 1, format!("{first}-{}", first + more)),
                1 => (*first..usize::MAX, format!("{first}-")),
                _ => (length.saturating_sub(*more)..usize::MAX, format!("-{more}")),
            };
            needed.iter_mut().enumerate().filter(|(at, _)| range.contains(at)).for_each(|(_, byte)| *byte = true);
            spec
        }).collect();
        let Ok(answer) = ask(&format!("bytes={}", specs.join(",")), &content) else {
            prop_assert!(needed.iter().all(|byte| !byte));
            return Ok(());
        };
        prop_assert_eq!(answer.status(), 206);
        let mut sent = vec![false; length];
        for (first, bytes) in parts(&answer) {
            prop_assert_eq!(&content[first..first + bytes.len()], &bytes[..]);
            for byte in &mut sent[first..first + bytes.len()] {
                prop_assert!(!std::mem::replace(byte, true));
            }
        }
        prop_assert!(needed.iter().zip(&sent).all(|(needed, sent)| !needed || *sent));
        let announced = answer.headers()["content-length"].to_str().unwrap().to_owned();
        prop_assert_eq!(announced, answer.body().len().to_string());
    }

    /// H32: ranges that cover a content, in any order, put together equal the content.
    #[test]
    fn joined_parts_equal_the_content(
        mut cuts in proptest::collection::btree_set(1..5000_usize, 0..20),
        seed: u64,
    ) {
        let content = content(5000);
        cuts.insert(0);
        let mut pieces: Vec<(usize, usize)> = cuts.iter().copied().zip(cuts.iter().copied().skip(1).chain([5000])).collect();
        let turn = usize::try_from(seed % 20).unwrap() % pieces.len();
        pieces.rotate_left(turn);
        let (one, other): (Vec<_>, Vec<_>) = pieces.iter().enumerate().partition(|(at, _)| at % 2 == 0);
        let mut read = vec![0; 5000];
        for half in [one, other] {
            let specs: Vec<String> = half.iter().map(|(_, (first, end))| format!("{first}-{}", end - 1)).collect();
            if specs.is_empty() {
                continue;
            }
            let answer = ask(&format!("bytes={}", specs.join(", ")), &content).unwrap();
            for (first, bytes) in parts(&answer) {
                read[first..first + bytes.len()].copy_from_slice(&bytes);
            }
        }
        prop_assert_eq!(read, content.to_vec());
    }

    /// H32: any value of the field is decided without a panic, and its ranges lie within the
    /// content.
    #[test]
    fn any_range_is_decided(range in "(bytes)?[= -~]{0,30}", length: u64) {
        if let RangeDecision::Partial(ranges) = RangeDecision::of(range.as_bytes(), length) {
            prop_assert!(!ranges.is_empty() && ranges.len() <= 32);
            let total: u128 = ranges.iter().map(|range| u128::from(range.length())).sum();
            prop_assert!(total <= u128::from(length));
            prop_assert!(ranges.iter().all(|range: &ByteRange| range.first() <= range.last() && range.last() < length));
        }
    }
}
