//! Each rule of the suite has a section in a `COMPLIANCE.md`, which links code and tests that
//! exist. `docs/rules` maps each rule to all of its tests.
//!
//! A test proves the rules that its documentation names, and the numbered checks that a line of it
//! opens with: `/// O6, O10, 41: a replayed code …`.

use std::fmt::Write as _;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A page with a section for each rule, and the generated map of its rules.
struct Page {
    path: &'static str,
    map: &'static str,
    ids: &'static [(&'static str, RangeInclusive<u32>)],
}

const PAGES: [Page; 5] = [
    Page {
        path: "graph-core/COMPLIANCE.md",
        map: "docs/rules/graph-core.md",
        ids: &[("G", 1..=31)],
    },
    Page {
        path: "http-conventions/COMPLIANCE.md",
        map: "docs/rules/http-conventions.md",
        ids: &[("H", 1..=34)],
    },
    Page {
        path: "oauth-core/COMPLIANCE.md",
        map: "docs/rules/oauth-core.md",
        ids: &[("O", 1..=38), ("O", 44..=46), ("S", 1..=6)],
    },
    Page {
        path: "webhook-core/COMPLIANCE.md",
        map: "docs/rules/webhook-core.md",
        ids: &[("W", 1..=34)],
    },
    Page {
        path: "examples/README.md",
        map: "docs/rules/examples.md",
        ids: &[("X", 1..=11)],
    },
];

/// The checks of oauth-core, which `checklist` tests. Number 64 is unassigned.
pub(super) const CHECKS: [(&str, RangeInclusive<u32>); 4] =
    [("", 1..=63), ("", 65..=116), ("DP", 1..=16), ("MT", 1..=4)];

pub(super) fn ids(ranges: &[(&str, RangeInclusive<u32>)]) -> Vec<String> {
    let numbers = |(letters, numbers): &(&str, RangeInclusive<u32>)| {
        let letters = (*letters).to_owned();
        numbers.clone().map(move |number| format!("{letters}{number}"))
    };
    ranges.iter().flat_map(numbers).collect()
}

pub(super) fn is_id(word: &str) -> bool {
    let digits = word.trim_start_matches(|character: char| character.is_ascii_uppercase());
    let letters = word.strip_suffix(digits).unwrap_or_default();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number && ["", "G", "H", "O", "S", "W", "X", "DP", "MT"].contains(&letters)
}

/// A Rust source file.
pub(super) struct Source {
    /// Relative to the root, with slashes.
    pub(super) path: String,
    pub(super) text: String,
}

impl Source {
    /// Returns `true` in a conformance kit, whose cases become tests where its macro is invoked.
    fn is_of_kit(&self) -> bool {
        self.path.contains("conformance/src/")
    }
}

/// Every Rust source below a folder of the repository, sorted by path, without `target`.
pub(super) fn sources(folder: &str) -> Vec<Source> {
    let mut entries: Vec<PathBuf> = fs::read_dir(root().join(folder))
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        let path = format!("{folder}/{name}");
        if entry.is_dir() && name != "target" {
            found.extend(sources(&path));
        } else if path.ends_with(".rs") {
            let text = fs::read_to_string(&entry).unwrap();
            found.push(Source { path, text });
        }
    }
    found
}

/// A test that is not ignored.
pub(super) struct Test {
    pub(super) name: String,
    pub(super) path: String,
    /// Rules and checks in its documentation.
    pub(super) ids: Vec<String>,
}

/// Every test of the suite, by path and position in the file.
pub(super) fn suite() -> Vec<Test> {
    let folders = [
        "docs",
        "examples",
        "graph-core",
        "http-conventions",
        "oauth-core",
        "ports",
        "webhook-core",
    ];
    let sources: Vec<Source> = folders.iter().flat_map(|folder| sources(folder)).collect();
    tests(&sources)
}

fn tests(sources: &[Source]) -> Vec<Test> {
    let mut found = Vec::new();
    for source in sources {
        let mut head = Vec::new();
        for line in source.text.lines().map(str::trim) {
            if line.starts_with("///") || line.starts_with("#[") {
                head.push(line);
                continue;
            }
            if let Some(name) = function(line) {
                let is_public = line.starts_with("pub async fn") || line.starts_with("pub fn");
                let is_case = source.is_of_kit() && is_public && source.text.contains("kit(");
                let runs = is_case || head.iter().any(|line| makes_test(line));
                if runs && !head.iter().any(|line| ignores(line)) {
                    found.push(Test {
                        name: name.to_owned(),
                        path: source.path.clone(),
                        ids: borne_ids(&head),
                    });
                }
            }
            head.clear();
        }
    }
    found
}

/// Name of the function that the line starts.
fn function(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_start = before
        .split_whitespace()
        .all(|word| word == "async" || word.starts_with("pub"));
    let end = after.find(['(', '<'])?;
    after.get(..end).filter(|_| is_start)
}

/// The rules anywhere in the documentation, and the checks at the start of a line.
fn borne_ids(head: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for line in head.iter().filter_map(|line| line.strip_prefix("///")) {
        let (opening, _) = line.split_once(':').unwrap_or_default();
        let opening = opening.split(',').map(str::trim);
        let checks = opening.clone().filter(|_| opening.clone().all(is_id));
        let rules = words(line).filter(|word| word.starts_with(|first: char| first.is_ascii_uppercase()));
        found.extend(rules.filter(|word| is_id(word)).chain(checks).map(str::to_owned));
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_alphanumeric())
}

/// Returns `true` for `#[test]` and the test attributes of runtimes, with and without arguments.
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

/// Links of a Markdown line whose text is code: text and target.
pub(super) fn links(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split("[`").skip(1).filter_map(|link| {
        link.split_once("`](")
            .and_then(|(text, rest)| Some((text, rest.split_once(')')?.0)))
    })
}

/// Path from the root of a link's target.
pub(super) fn target(page: &str, link: &str) -> String {
    let mut parts: Vec<Component<'_>> = Vec::new();
    let folder = Path::new(page).parent().unwrap_or_else(|| Path::new(""));
    for part in folder.components().chain(Path::new(link).components()) {
        match part {
            Component::ParentDir => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.iter().collect::<PathBuf>().to_string_lossy().into_owned()
}

/// A section of a page: the rule and its proof.
#[derive(Default)]
struct Section {
    id: String,
    rule: String,
    code: Vec<String>,
    /// Names and paths.
    tests: Vec<(String, String)>,
    status: String,
}

/// Sections of a page: headings of any level that start with an id and `·`.
fn sections(page: &str, text: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let mut is_within = false;
    for line in text.lines() {
        if line.starts_with('#') {
            let heading = line.trim_start_matches('#').trim();
            let id = heading.split_once(" · ").map(|(id, _)| id).filter(|id| is_id(id));
            is_within = id.is_some();
            found.extend(id.map(|id| Section {
                id: id.to_owned(),
                ..Section::default()
            }));
        }
        let Some(section) = found.last_mut().filter(|_| is_within && !line.starts_with('#')) else {
            continue;
        };
        let paths = links(line).map(|(text, link)| (text.to_owned(), target(page, link)));
        if let Some(status) = line.strip_prefix("- Status: ") {
            status.clone_into(&mut section.status);
        } else if line.starts_with("- Code: ") {
            section.code.extend(paths.map(|(_, path)| path));
        } else if line.starts_with("  - ") {
            section.tests.extend(paths);
        } else if !line.starts_with('-') {
            section.rule.push_str(line);
        }
    }
    found
}

/// Faults in the sections of a page.
fn faults(page: &str, sections: &[Section], ids: &[String], tests: &[Test]) -> Vec<String> {
    let mut found = Vec::new();
    if !sections.iter().map(|section| &section.id).eq(ids) {
        let listed: Vec<&str> = sections.iter().map(|section| section.id.as_str()).collect();
        found.push(format!("{page} has sections for {listed:?}"));
    }
    for Section {
        id,
        rule,
        code,
        tests: shown,
        status,
    } in sections
    {
        let mut fault = |text: &str| found.push(format!("{page}: {id} {text}"));
        if rule.is_empty() || code.is_empty() {
            fault("lacks the rule or its code");
        }
        for path in code.iter().filter(|path| !root().join(path).exists()) {
            fault(&format!("links {path}, which does not exist"));
        }
        if status != "proven" && !status.starts_with("partly: ") {
            fault("has no status `proven` or `partly: what is missing`");
        }
        let all = tests.iter().filter(|test| test.ids.contains(id)).count();
        if all == 0 {
            fault("has no test that bears it");
        }
        if shown.len() < all.min(3) || shown.len() > 5 {
            fault(&format!(
                "shows {} of {all} tests, not three to five",
                shown.len()
            ));
        }
        for (name, path) in shown {
            if !proves(tests, name, path, id) {
                fault(&format!("shows `{name}`: no such test of {path} bears it"));
            }
        }
    }
    found
}

/// Returns `true` if the file has a test with this name and id that is not ignored.
pub(super) fn proves(tests: &[Test], name: &str, path: &str, id: &str) -> bool {
    let mut named = tests.iter().filter(|test| test.name == name && test.path == path);
    named.any(|test| test.ids.iter().any(|borne| borne == id))
}

const UPDATE: &str = "UPDATE_RULES=1 cargo test -p service --test it compliance";

/// Map of rules to tests, as a page in `docs/rules`.
fn map(page: &str, ids: &[String], tests: &[Test]) -> String {
    let mut text = format!(
        "# Tests of each rule: {page}\n\nGenerated from the documentation of the tests by `{UPDATE}`; do not edit.\n\
         The rules are in [{page}](../../{page}).\n"
    );
    for id in ids {
        let _ = write!(text, "\n## {id}\n\n");
        let mut last = "";
        for test in tests.iter().filter(|test| test.ids.contains(id)) {
            if test.path == last {
                let _ = write!(text, ",\n  `{}`", test.name);
            } else {
                let start = if last.is_empty() { "" } else { "\n" };
                let _ = write!(text, "{start}- [{0}](../../{0}):\n  `{1}`", test.path, test.name);
            }
            last = &test.path;
        }
        text.push_str(if last.is_empty() {
            "No test bears this id.\n"
        } else {
            "\n"
        });
    }
    text
}

/// Generated pages: path, page of the rules, ids.
fn maps() -> impl Iterator<Item = (&'static str, &'static str, Vec<String>)> {
    let checks = (
        "docs/rules/oauth-core-checks.md",
        "oauth-core/COMPLIANCE.md",
        ids(&CHECKS),
    );
    let of_pages = PAGES.into_iter().map(|page| (page.map, page.path, ids(page.ids)));
    of_pages.chain([checks])
}

#[test]
fn rules_have_sections_with_tests_that_bear_them() {
    let tests = suite();
    let mut found = Vec::new();
    for page in PAGES {
        let text = fs::read_to_string(root().join(page.path)).unwrap();
        found.extend(faults(
            page.path,
            &sections(page.path, &text),
            &ids(page.ids),
            &tests,
        ));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn maps_of_rules_are_up_to_date() {
    let tests = suite();
    for (path, page, ids) in maps() {
        let file = root().join(path);
        let text = map(page, &ids, &tests);
        if std::env::var_os("UPDATE_RULES").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &text).unwrap();
        }
        let stored = fs::read_to_string(&file).unwrap_or_default();
        assert!(stored == text, "{path} is not up to date; run {UPDATE}");
    }
}

#[test]
fn only_tests_that_run_bear_rules() {
    let in_file = |path: &str, text: &str| {
        let (path, text) = (path.to_owned(), text.to_owned());
        tests(&[Source { path, text }])
    };
    let bears = |tests: &[Test], name: &str, path: &str| proves(tests, name, path, "W1");
    let text = "/// A rule.\n/// W1, 12: (W2) ids.\n#[test]\nfn first() {}\n\n/// Of W11, 12: no.\n#[test]\nfn second() {}\n";
    let tests = in_file("a.rs", text);
    assert!(bears(&tests, "first", "a.rs"));
    assert!(proves(&tests, "first", "a.rs", "12"));
    assert!(proves(&tests, "first", "a.rs", "W2"));
    assert!(!proves(&tests, "first", "a.rs", "W11"));
    assert!(!proves(&tests, "second", "a.rs", "12"));
    assert!(!bears(&tests, "first", "b.rs"));
    assert!(!bears(&tests, "second", "a.rs"));
    assert!(!bears(&tests, "missing", "a.rs"));

    // documentation and attributes of a test; if the rule is proven outside a kit, and in one
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
        let text = format!("/// W1: a rule\n/// of two lines.\n{head}fn name() {{}}\n");
        let kit = format!("#[kit(store)]\nmod cases {{\n{text}}}\n");
        let of_kit = "x/conformance/src/lib.rs";
        assert_eq!(bears(&in_file("a.rs", &text), "name", "a.rs"), outside, "{head}");
        assert_eq!(bears(&in_file(of_kit, &text), "name", of_kit), outside, "{head}");
        assert_eq!(bears(&in_file(of_kit, &kit), "name", of_kit), in_kit, "{head}");
        assert_eq!(bears(&in_file("a.rs", &kit), "name", "a.rs"), outside, "{head}");
        let generic = kit.replace("name()", "name<S: Store>(store: &S)");
        assert_eq!(
            bears(&in_file(of_kit, &generic), "name", of_kit),
            in_kit,
            "{head}"
        );
    }
}

/// A valid page with two rules.
const EXAMPLE: &str = "# Page\n\n## W1 · Ids\n\nAn id has no dot.\n\n- Code: [`main`](tests/it/main.rs)\n- Tests:\n  \
                       - [`ids_have_no_dot`](tests/it/main.rs)\n- Status: proven\n\n## W2 · Headers\n\nThere are headers.\n\n\
                       - Code: [`main`](tests/it/main.rs)\n- Tests:\n  - [`three_headers`](tests/it/main.rs)\n- Status: \
                       partly: no proof of order\n";

#[test]
fn flawed_sections_are_found() {
    let page = "examples/service/PAGE.md";
    let path = "examples/service/tests/it/main.rs".to_owned();
    let text =
        "/// W1: ids.\n#[test]\nfn ids_have_no_dot() {}\n/// W2: headers.\n#[test]\nfn three_headers() {}\n";
    let tests = tests(&[Source {
        path,
        text: text.to_owned(),
    }]);
    let check = |text: &str| {
        let expected = ["W1".to_owned(), "W2".to_owned()];
        faults(page, &sections(page, text), &expected, &tests)
    };
    assert_eq!(check(EXAMPLE), Vec::<String>::new());
    for (from, to) in [
        ("## W2 · ", "## W3 · "),
        ("## W2 · ", "## "),
        ("An id has no dot.", ""),
        ("- Code: [`main`](tests/it/main.rs)\n", ""),
        ("[`main`](tests/it/main.rs)", "[`main`](tests/it/missing.rs)"),
        ("- Status: proven", "- Status: open"),
        ("- Status: proven\n", ""),
        ("  - [`ids_have_no_dot`](tests/it/main.rs)\n", ""),
        ("[`ids_have_no_dot`]", "[`three_headers`]"),
        ("[`ids_have_no_dot`]", "[`missing`]"),
        ("[`ids_have_no_dot`](tests", "[`ids_have_no_dot`](src"),
    ] {
        let flawed = EXAMPLE.replacen(from, to, 1);
        assert_ne!(flawed, EXAMPLE, "{from}");
        assert_ne!(check(&flawed), Vec::<String>::new(), "{to}");
    }
}

#[test]
fn maps_list_tests_by_file() {
    let of = |name: &str, path: &str| Test {
        name: name.to_owned(),
        path: path.to_owned(),
        ids: vec!["W1".to_owned()],
    };
    let text = map(
        "page.md",
        &["W1".to_owned()],
        &[of("a", "x.rs"), of("b", "x.rs"), of("c", "y.rs")],
    );
    let list = "## W1\n\n- [x.rs](../../x.rs):\n  `a`,\n  `b`\n- [y.rs](../../y.rs):\n  `c`\n";
    assert!(text.ends_with(list), "{text}");
}
