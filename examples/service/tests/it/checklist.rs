//! Each number of the checklist of authorization has a test that lets the right thing pass and one that stops the wrong one, and
//! each reason that a server gives names its number and is seen by a test.

use std::fs;

use oauth_core::error::Reason;

use super::compliance::{Source, proves, root, sources};

const TABLE: &str = "oauth-core/COMPLIANCE.md";

/// Checks that are not made yet; each is said to be open in its row.
const OPEN: [u16; 6] = [12, 22, 33, 40, 50, 55];

struct Check {
    number: u16,
    passes: String,
    refuses: String,
}

impl Check {
    /// A row of four cells that begins with a number.
    fn of(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [number, _, passes, refuses] = *cells.as_slice() else {
            return None;
        };
        Some(Self {
            number: number.parse().ok()?,
            passes: passes.to_owned(),
            refuses: refuses.to_owned(),
        })
    }
}

fn tests(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn checks() -> Vec<Check> {
    let text = fs::read_to_string(root().join(TABLE)).unwrap();
    text.lines().filter_map(Check::of).collect()
}

fn oauth_sources() -> Vec<Source> {
    let mut texts = Vec::new();
    sources(&root().join("oauth-core"), &mut texts);
    texts
}

/// Numbers 1 to 63, 65 to 81 and 103 to 116.
#[test]
fn every_check_has_a_test_that_passes_and_one_that_refuses() {
    let (checks, texts) = (checks(), oauth_sources());
    let expected: Vec<u16> = (1..=63).chain(65..=81).chain(103..=116).collect();
    let listed: Vec<u16> = checks.iter().map(|check| check.number).collect();
    assert_eq!(listed, expected);

    let mut faults = Vec::new();
    for check in checks {
        if OPEN.contains(&check.number) {
            if !check.passes.starts_with("open: ") {
                faults.push(format!("{} is no longer open", check.number));
            }
            continue;
        }
        for cell in [&check.passes, &check.refuses] {
            if tests(cell).next().is_none() {
                faults.push(format!("{} lacks a test", check.number));
            }
            let unproven = tests(cell).filter(|test| !proves(&texts, test, &check.number.to_string()));
            faults.extend(unproven.map(|test| format!("no test `{test}` bears {}", check.number)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// O26: what the host is told is as much of a promise as what the peer is.
#[test]
fn every_reason_names_its_check_and_is_seen_by_a_test() {
    let numbers: Vec<u16> = checks().iter().map(|check| check.number).collect();
    let mut texts = Vec::new();
    sources(&root().join("oauth-core/tests"), &mut texts);
    let mut faults = Vec::new();
    let mut codes = Vec::new();
    for reason in Reason::ALL {
        let code = reason.code();
        // compared as a value, by name, or in the last column of a table of faults
        let ways = [
            format!("\"{code}\""),
            format!("Reason::{reason:?}"),
            format!("| {code}\n"),
        ];
        let seen = |source: &Source| ways.iter().any(|way| source.text.contains(way));
        if !texts.iter().any(seen) {
            faults.push(format!("no test sees {code}"));
        }
        let unlisted = reason
            .checklist()
            .iter()
            .filter(|number| !numbers.contains(number) && !(82..=102).contains(*number));
        faults.extend(unlisted.map(|number| format!("{code} names {number}")));
        codes.push(code);
    }
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), Reason::ALL.len(), "a code is used twice");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_check_is_a_row_of_four_cells() {
    let check = Check::of("| 7 | what | `a`, `b` | `c` |").unwrap();
    assert_eq!((check.number, tests(&check.passes).count()), (7, 2));
    assert!(Check::of("| O7 | rule | module | `c` |").is_none());
    assert!(Check::of("|---|---|---|---|").is_none());
}
