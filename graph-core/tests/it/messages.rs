//! Compile errors of the attributes: the compiler's first error says what to write.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Most errors of one mistake.
const ERRORS: usize = 3;

/// Most lines of these errors together.
const LINES: usize = 90;

/// `TRYBUILD=overwrite` updates the expected messages.
///
/// `messages` holds many mistakes in one file, `mistakes` one in each file. Each file is a program
/// of its own; one call of the compiler's driver builds all of them.
#[test]
fn mistakes_do_not_compile_with_a_helpful_message() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/messages/*.rs");
    cases.compile_fail("tests/mistakes/*.rs");
}

/// One mistake, from the head of its file, and the errors that the compiler prints for it.
struct Mistake {
    name: String,
    /// First line of the file.
    description: String,
    /// Text that the first error contains.
    message: String,
    /// `true` if the compiler or juniper writes the message, before graph-core can.
    of_compiler: bool,
    /// Number of errors, if there are more than [`ERRORS`].
    exceeds: Option<usize>,
    errors: String,
}

impl Mistake {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let head: Vec<_> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        let value = |key: &str| head.iter().find_map(|line| line.trim().strip_prefix(key));
        let of_compiler = value("Compiler: ");
        Self {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            description: head.first().unwrap().trim().to_owned(),
            message: of_compiler.or_else(|| value("Message: ")).unwrap().to_owned(),
            of_compiler: of_compiler.is_some(),
            exceeds: value("Errors: ").map(|count| count.parse().unwrap()),
            errors: fs::read_to_string(path.with_extension("stderr")).unwrap(),
        }
    }

    fn count(&self) -> usize {
        let is_error = |line: &&str| line.starts_with("error:") || line.starts_with("error[");
        self.errors.lines().filter(is_error).count()
    }

    /// Checks the errors; `ours` is the source of this crate and of its macros.
    fn fault(&self, ours: &str) -> Option<String> {
        let first = self.errors.split("\n\n").next().unwrap_or_default();
        if !first.contains(&self.message) {
            return Some(format!(
                "the first error does not say `{}`:\n{first}",
                self.message
            ));
        }
        if !(self.of_compiler || ours.contains(&self.message)) {
            return Some(format!("`{}` is not in the source", self.message));
        }
        let most = self.exceeds.unwrap_or(ERRORS);
        if self.count() > most
            || self
                .exceeds
                .is_some_and(|count| count <= ERRORS || self.count() < count)
        {
            return Some(format!("{} errors, expected {most} or less", self.count()));
        }
        if self.exceeds.is_none() && self.errors.lines().count() > LINES {
            return Some(format!("{} lines of errors", self.errors.lines().count()));
        }
        None
    }
}

fn mistakes() -> Vec<Mistake> {
    let mut paths = files(&folder("tests/mistakes"), "rs");
    paths.sort();
    paths.iter().map(|path| Mistake::read(path)).collect()
}

/// G28: a schema with a mistake does not build; the first error is one of this crate, with a text
/// that says what to write, and at most three errors are printed.
#[test]
fn first_error_of_each_mistake_says_what_to_write() {
    let sources = ["src", "macros/src"]
        .map(|path| files(&folder(path), "rs"))
        .concat();
    let ours: String = sources
        .iter()
        .map(|path| literal(&fs::read_to_string(path).unwrap()))
        .collect();
    let mistakes = mistakes();
    let faults: Vec<_> = mistakes
        .iter()
        .filter_map(|mistake| Some(format!("{}: {}", mistake.name, mistake.fault(&ours)?)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let ours = mistakes
        .iter()
        .filter(|mistake| !mistake.of_compiler && mistake.exceeds.is_none());
    // these numbers may only rise, and the number of the others only fall
    assert!(ours.count() >= 120, "fewer mistakes have a message of ours");
    let exceeding = mistakes.iter().filter(|mistake| mistake.exceeds.is_some());
    assert!(
        exceeding.count() <= 8,
        "more mistakes have more than three errors"
    );
}

/// `UPDATE_MISTAKES=1` writes the page.
#[test]
#[expect(clippy::disallowed_methods, reason = "the page is a file of the repository")]
fn page_lists_every_mistake() {
    let mut page = PAGE.to_owned();
    for (title, of_compiler) in [("Our message", false), ("The compiler's message", true)] {
        write!(
            page,
            "\n## {title}\n\n| mistake | the first error says | errors |\n|---|---|---|\n"
        )
        .unwrap();
        for mistake in mistakes()
            .iter()
            .filter(|mistake| mistake.of_compiler == of_compiler)
        {
            let (name, description) = (&mistake.name, mistake.description.trim_end_matches('.'));
            let message = mistake.message.replace('|', "\\|");
            let count = mistake.count();
            writeln!(page, "| [{description}]({name}.rs) | {message} | {count} |").unwrap();
        }
    }
    let path = folder("tests/mistakes/README.md");
    if std::env::var_os("UPDATE_MISTAKES").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == page,
        "run with `UPDATE_MISTAKES=1`"
    );
}

const PAGE: &str = "# Mistakes and their messages

Each file of this folder is a program with one mistake. The `.stderr` file beside it has the output of
the compiler. The tests in `tests/it/messages.rs` check that the first error contains the text below,
and that there are at most three errors, or the number in the head of the file. With
`UPDATE_MISTAKES=1` they write this page.

In the first table the text is in the source of graph-core or of its macros. In the second table the
compiler or juniper reports the mistake before graph-core can: conflicting implementations, types that
juniper's `RootNode` refuses, code that juniper's derives generate, calls in the body of a resolver,
and values that are not `Send` or `Sync`.
";

/// Source with its string literals as they are printed.
fn literal(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        match line.strip_suffix('\\') {
            Some(start) => text.push_str(start),
            None => {
                text.push_str(line);
                text.push('\n');
                continue;
            }
        }
        text.push_str(lines.next().unwrap_or_default().trim_start());
        text.push('\n');
    }
    text.replace("\\\"", "\"")
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Files with the `extension` in `folder` and below it.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found
}
