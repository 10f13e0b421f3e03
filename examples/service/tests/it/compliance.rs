//! Every rule of the suite stands in a `COMPLIANCE.md`, with tests that exist and say so, or with what is still open.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A table of rules: its file, the folder with its tests, and the ids it must list, as ranges of numbers for a letter.
type Table = (&'static str, &'static str, &'static [(char, RangeInclusive<u32>)]);

const TABLES: [Table; 5] = [
    ("graph-core/COMPLIANCE.md", "graph-core", &[('G', 1..=20)]),
    (
        "http-conventions/COMPLIANCE.md",
        "http-conventions",
        &[('H', 1..=22)],
    ),
    (
        "oauth-core/COMPLIANCE.md",
        "oauth-core",
        &[('O', 1..=27), ('O', 44..=44), ('S', 1..=6)],
    ),
    ("webhook-core/COMPLIANCE.md", "webhook-core", &[('W', 1..=18)]),
    ("examples/README.md", "examples", &[('X', 1..=5)]),
];

/// One row: the id, and what stands in its last cell.
struct Row {
    id: String,
    tests: Vec<String>,
    open: bool,
}

fn rows(table: &str) -> Vec<Row> {
    let text = fs::read_to_string(root().join(table)).unwrap_or_else(|error| panic!("{table}: {error}"));
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|')
            .split(" | ")
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    let is_id = |cell: &str| {
        let mut characters = cell.chars();
        characters.next().is_some_and(|first| "GHOSWX".contains(first))
            && cell.len() > 1
            && characters.all(|character| character.is_ascii_digit())
    };
    text.lines()
        .filter(|line| line.starts_with('|'))
        .map(cells)
        .filter_map(|cells| Some((cells.first()?.clone(), cells.last()?.clone())))
        .filter(|(id, _)| is_id(id))
        .map(|(id, last)| {
            let (proven, open) = last
                .split_once("open:")
                .map_or((last.as_str(), false), |(before, _)| (before, true));
            let tests = proven.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            Row { id, tests, open }
        })
        .collect()
}

/// A Rust source.
pub(super) struct Source {
    pub(super) text: String,
    /// Belongs to a conformance crate: the cases of a kit become tests where its macro is called.
    is_of_kit: bool,
}

/// Every Rust source below a folder, generated ones left out.
pub(super) fn sources(folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(Source {
                text: fs::read_to_string(&path).unwrap(),
                is_of_kit: path.ancestors().any(|folder| folder.ends_with("conformance/src")),
            });
        }
    }
}

/// Whether a test of this name, one that runs, says in its documentation that it proves this rule.
pub(super) fn proves(sources: &[Source], test: &str, id: &str) -> bool {
    let openings = [format!("fn {test}("), format!("fn {test}<")];
    openings.iter().any(|opening| is_proven(sources, opening, id))
}

fn is_proven(sources: &[Source], opening: &str, id: &str) -> bool {
    // first the quick question: most sources do not have the name at all
    let named = sources.iter().filter(|source| source.text.contains(opening));
    named.into_iter().any(|source| {
        let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
        let mut openings = lines.iter().enumerate().filter(|(_, line)| opens(line, opening));
        openings.any(|(at, _)| {
            let head = lines.iter().take(at).rev();
            let head: Vec<&str> = head
                .copied()
                .take_while(|line| line.starts_with("///") || line.starts_with("#["))
                .collect();
            let is_named = source.text.contains("kit(");
            let is_case = source.is_of_kit && is_public(lines.get(at)) && is_named;
            let runs = is_case || head.iter().any(|line| makes_test(line));
            runs && !head.iter().any(|line| ignores(line)) && head.iter().any(|line| bears(line, id))
        })
    })
}

/// Returns `true` for a line that begins a case: the attribute of a kit makes a test of each `pub async fn` and `pub fn`.
fn is_public(line: Option<&&str>) -> bool {
    line.is_some_and(|line| line.starts_with("pub async fn") || line.starts_with("pub fn"))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_alphanumeric())
}

/// Whether the line begins that function, and is no comment.
fn opens(line: &str, opening: &str) -> bool {
    let (before, _) = line.split_once(opening).unwrap_or(("//", ""));
    before
        .split_whitespace()
        .all(|word| word == "async" || word.starts_with("pub"))
}

fn bears(line: &str, id: &str) -> bool {
    line.strip_prefix("///")
        .is_some_and(|text| words(text).any(|word| word == id))
}

/// `#[test]`, and those of the runtimes, with and without arguments.
fn makes_test(line: &str) -> bool {
    let path = line
        .strip_prefix("#[")
        .and_then(|line| line.split(['(', ']']).next());
    path.is_some_and(|path| path.rsplit("::").next() == Some("test"))
}

fn ignores(line: &str) -> bool {
    let ignored = line.starts_with("#[cfg_attr(") && words(line).any(|word| word == "ignore");
    ignored || line.starts_with("#[ignore")
}

#[test]
fn every_rule_is_proven_by_a_test_that_bears_its_id_or_is_said_to_be_open() {
    let mut faults = Vec::new();
    for (table, folder, ids) in TABLES {
        let rows = rows(table);
        let listed: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
        let expected: Vec<String> = ids
            .iter()
            .flat_map(|(letter, numbers)| numbers.clone().map(move |number| format!("{letter}{number}")))
            .collect();
        if listed != expected {
            faults.push(format!("{table} lists {listed:?}"));
        }
        let mut texts = Vec::new();
        sources(&root().join(folder), &mut texts);
        // a rule about pages, a server that dies, or a receiver that stalls, is proven where those are
        for host in [
            "hosts/oauth-login",
            "hosts/protected-api",
            "service",
            "stores/postgres",
            "transports/hyper",
        ] {
            sources(&root().join(format!("examples/{host}/tests")), &mut texts);
        }
        // the values that the crates share
        sources(&root().join("ports/src"), &mut texts);
        sources(&root().join("examples/transports/conformance/src"), &mut texts);
        for row in rows {
            if row.tests.is_empty() && !row.open {
                faults.push(format!(
                    "{table}: {} has neither a test nor a word on what is open",
                    row.id
                ));
            }
            let unproven = row.tests.iter().filter(|test| !proves(&texts, test, &row.id));
            faults.extend(unproven.map(|test| format!("{table}: no test `{test}` bears {}", row.id)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_rule_is_found_only_where_a_test_that_runs_says_so() {
    let in_file = |is_of_kit, text: &str| {
        let text = text.to_owned();
        [Source { text, is_of_kit }]
    };
    let text = "/// W1: the form of an id.\n#[test]\nfn ids_have_no_dot() {}\n\n#[test]\nfn other() {}\n";
    let sources = in_file(false, text);
    assert!(proves(&sources, "ids_have_no_dot", "W1"));
    assert!(!proves(&sources, "ids_have_no_dot", "W11"));
    assert!(!proves(&sources, "other", "W1"));
    assert!(!proves(&sources, "missing", "W1"));

    // the lines between the rule and the function, and whether the rule is proven then, outside a kit and in one
    for (head, outside, in_kit) in [
        ("#[test]\n", true, true),
        (
            "#[cfg(unix)]\n#[tokio::test(flavor = \"multi_thread\")]\nasync ",
            true,
            true,
        ),
        ("pub async ", false, true),
        ("pub ", false, true),
        ("async ", false, false),
        ("#[expect(clippy::unwrap_used)]\npub async ", false, true),
        ("#[test_case]\n", false, false),
        ("#[cfg(test)]\n", false, false),
        ("#[test]\n#[ignore]\n", false, false),
        ("#[ignore = \"slow\"]\n#[tokio::test]\nasync ", false, false),
        ("#[cfg_attr(unix, ignore)]\n#[test]\n", false, false),
        ("#[test]\n// ", false, false),
    ] {
        let text = format!("/// O1: a rule.\n{head}fn name() {{}}\n");
        assert_eq!(proves(&in_file(false, &text), "name", "O1"), outside, "{head}");
        assert_eq!(proves(&in_file(true, &text), "name", "O1"), outside, "{head}");
        let kit = format!("#[kit(store)]\nmod cases {{\n{text}}}\n");
        assert_eq!(proves(&in_file(true, &kit), "name", "O1"), in_kit, "{head}");
        assert_eq!(proves(&in_file(false, &kit), "name", "O1"), outside, "{head}");
    }
    let generic =
        "#[kit(store)]\nmod cases {\n/// O1: a rule.\npub async fn name<S: Store>(store: &S) {}\n}\n";
    assert!(proves(&in_file(true, generic), "name", "O1"));
    assert!(!proves(&in_file(false, generic), "name", "O1"));
}
