//! Each check of oauth-core has a test that accepts good input and one that refuses bad input.
//! Each reason of a refusal names its checks and is seen by a test.

use std::fs;

use oauth_core::error::Reason;

use super::compliance::{CHECKS, Source, Test, ids, is_id, links, proves, root, sources, suite, target};

const TABLE: &str = "oauth-core/COMPLIANCE.md";

/// Checks that are not implemented; the row of each says `open`.
const OPEN: [&str; 1] = ["22"];

struct Check {
    id: String,
    passes: String,
    refuses: String,
}

impl Check {
    /// Parses a row of four cells that starts with the id of a check.
    fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [id, _, passes, refuses] = *cells.as_slice() else {
            return None;
        };
        is_id(id).then(|| Self {
            id: id.to_owned(),
            passes: passes.to_owned(),
            refuses: refuses.to_owned(),
        })
    }

    /// Faults of the row: each of its last two cells must link tests with the check's id.
    fn faults(&self, tests: &[Test]) -> Vec<String> {
        let mut found = Vec::new();
        for cell in [&self.passes, &self.refuses] {
            if links(cell).next().is_none() {
                found.push(format!("{} lacks a test", self.id));
            }
            let unproven =
                links(cell).filter(|(name, link)| !proves(tests, name, &target(TABLE, link), &self.id));
            found
                .extend(unproven.map(|(name, link)| format!("no test `{name}` in {link} bears {}", self.id)));
        }
        found
    }
}

fn checks() -> Vec<Check> {
    let text = fs::read_to_string(root().join(TABLE)).unwrap();
    text.lines().filter_map(Check::parse).collect()
}

/// The checks 1 to 63 and 65 to 116, and those of DPoP and mutual TLS, each have both tests.
#[test]
fn every_check_has_a_test_that_passes_and_one_that_refuses() {
    let (checks, tests) = (checks(), suite());
    let listed: Vec<String> = checks.iter().map(|check| check.id.clone()).collect();
    assert_eq!(listed, ids(&CHECKS));

    let mut faults = Vec::new();
    for check in checks {
        if !OPEN.contains(&check.id.as_str()) {
            faults.extend(check.faults(&tests));
        } else if !check.passes.starts_with("open: ") {
            faults.push(format!("{} is no longer open", check.id));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// O26: every reason that the host receives names its checks and is asserted by a test.
#[test]
fn every_reason_names_its_check_and_is_seen_by_a_test() {
    let listed = checks();
    let texts = sources("oauth-core/tests");
    let mut faults = Vec::new();
    let mut codes = Vec::new();
    for reason in Reason::ALL {
        let code = reason.code();
        // asserted as a value, by name, or in the last column of a table of faults
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
    let check = Check::parse("| 7 | what | [`a`](a.rs), [`b`](a.rs) | [`c`](../c.rs) |").unwrap();
    assert_eq!((check.id.as_str(), links(&check.passes).count()), ("7", 2));
    assert!(Check::parse("| DP7 | what | [`a`](a.rs) | [`b`](a.rs) |").is_some());
    assert!(Check::parse("| O7 | rule | [`c`](a.rs) |").is_none());
    assert!(Check::parse("|---|---|---|---|").is_none());

    let test = |name: &str, path: &str, id: &str| Test {
        name: name.to_owned(),
        path: path.to_owned(),
        ids: vec![id.to_owned()],
    };
    let mut tests = vec![
        test("a", "oauth-core/a.rs", "7"),
        test("b", "oauth-core/a.rs", "7"),
        test("c", "c.rs", "7"),
    ];
    assert!(check.faults(&tests).is_empty());
    tests.pop();
    assert_eq!(check.faults(&tests).len(), 1);
    tests.push(test("c", "c.rs", "8"));
    assert_eq!(check.faults(&tests).len(), 1);
    let check = Check::parse("| 7 | what | [`a`](a.rs) | |").unwrap();
    assert_eq!(check.faults(&tests).len(), 1);
}
