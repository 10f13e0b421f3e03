//! Each number of the checklist of authorization has a test that lets the right thing pass and one that stops the wrong one, and
//! each reason that a server gives names its number and is seen by a test.

use std::fs;

use oauth_core::error::Reason;

use super::compliance::{Source, proves, root, sources};

const TABLE: &str = "oauth-core/COMPLIANCE.md";

/// Checks that are not made yet; each is said to be open in its row.
const OPEN: [&str; 1] = ["22"];

struct Check {
    id: String,
    passes: String,
    refuses: String,
}

impl Check {
    /// A row of four cells that begins with a number, or with one of the checks of proofs of possession and of mutual TLS.
    fn of(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [id, _, passes, refuses] = *cells.as_slice() else {
            return None;
        };
        id.trim_start_matches(['D', 'P', 'M', 'T']).parse::<u16>().ok()?;
        Some(Self {
            id: id.to_owned(),
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
    // what only a host with both servers shows
    sources(&root().join("examples/service/tests"), &mut texts);
    sources(&root().join("ports/src"), &mut texts);
    texts
}

/// Numbers 1 to 63 and 65 to 116, and those of proofs of possession and of mutual TLS.
#[test]
fn every_check_has_a_test_that_passes_and_one_that_refuses() {
    let (checks, texts) = (checks(), oauth_sources());
    let expected = (1..=63).chain(65..=116).map(|number| number.to_string());
    let of_proofs = (1..=16).map(|number| format!("DP{number}"));
    let of_certificates = (1..=4).map(|number| format!("MT{number}"));
    let expected: Vec<String> = expected.chain(of_proofs).chain(of_certificates).collect();
    let listed: Vec<String> = checks.iter().map(|check| check.id.clone()).collect();
    assert_eq!(listed, expected);

    let mut faults = Vec::new();
    for check in checks {
        if OPEN.contains(&check.id.as_str()) {
            if !check.passes.starts_with("open: ") {
                faults.push(format!("{} is no longer open", check.id));
            }
            continue;
        }
        for cell in [&check.passes, &check.refuses] {
            if tests(cell).next().is_none() {
                faults.push(format!("{} lacks a test", check.id));
            }
            let unproven = tests(cell).filter(|test| !proves(&texts, test, &check.id));
            faults.extend(unproven.map(|test| format!("no test `{test}` bears {}", check.id)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// O26: what the host is told is as much of a promise as what the peer is.
#[test]
fn every_reason_names_its_check_and_is_seen_by_a_test() {
    let listed = checks();
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
            .filter(|id| !listed.iter().any(|check| check.id == **id));
        faults.extend(unlisted.map(|id| format!("{code} names {id}")));
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
    assert_eq!((check.id.as_str(), tests(&check.passes).count()), ("7", 2));
    assert!(Check::of("| DP7 | what | `a` | `b` |").is_some());
    assert!(Check::of("| O7 | rule | module | `c` |").is_none());
    assert!(Check::of("|---|---|---|---|").is_none());
}
