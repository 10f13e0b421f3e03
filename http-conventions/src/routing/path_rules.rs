//! Linter for route templates.

use std::collections::BTreeSet;

/// Plurals that do not end in `s`, and uncountable words.
const IRREGULAR: [&str; 12] = [
    "children",
    "criteria",
    "data",
    "equipment",
    "feedback",
    "geese",
    "indices",
    "information",
    "media",
    "men",
    "metadata",
    "people",
];
/// Endings of singular words that end in `s`.
const SINGULAR_ENDINGS: [&str; 3] = ["ss", "us", "is"];
const LEVELS: usize = 2;

/// Linter for route templates.
///
/// A path has lower-case words joined by hyphens, plural collections, and at most two levels.
#[derive(Clone, Debug, Default)]
pub struct PathRules {
    exceptions: BTreeSet<Box<str>>,
}

/// A mistake in a route template.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFinding {
    /// The template does not start with `/`.
    #[error("the path does not begin with a slash")]
    NotAbsolute,
    /// A segment is empty.
    #[error("a segment is empty")]
    EmptySegment,
    /// A segment contains an upper-case letter.
    #[error("{0:?} is not lowercase")]
    NotLowercase(String),
    /// The words of a segment are not joined by single hyphens.
    #[error("{0:?} is not hyphenated")]
    NotHyphenated(String),
    /// A segment contains a character other than letters, digits, `-` and `_`, such as a dot or a
    /// brace.
    #[error("{0:?} is neither a word nor a parameter")]
    NotAWord(String),
    /// The name of a collection is not a plural.
    #[error("{0:?} is not a plural")]
    NotPlural(String),
    /// A parameter does not follow a collection.
    #[error("the parameter {0:?} does not follow a collection")]
    NoCollection(String),
    /// More than two collections are nested.
    #[error("{0} levels, but at most two are allowed")]
    TooDeep(usize),
}

impl PathRules {
    /// Accepts this segment in any template although it breaks the rules.
    #[must_use]
    pub fn with_exception(mut self, segment: &str) -> Self {
        self.exceptions.insert(segment.into());
        self
    }

    /// Checks a template such as `/v1/charges/{id}/refunds`. Findings are in the order of the
    /// segments.
    ///
    /// Each segment is a level, except parameters and a leading version `v<N>`.
    #[must_use]
    pub fn check(&self, template: &str) -> Vec<PathFinding> {
        let Some(path) = template.strip_prefix('/') else {
            return vec![PathFinding::NotAbsolute];
        };
        let mut findings = Vec::new();
        let (mut levels, mut follows_collection) = (0, false);
        let segments = path.split('/').filter(|_| !path.is_empty());
        for (position, segment) in segments.enumerate() {
            let is_version = position == 0 && is_version(segment);
            follows_collection = match parameter(segment) {
                Some(_) if follows_collection => false,
                Some(_) => {
                    findings.push(PathFinding::NoCollection(segment.to_owned()));
                    false
                }
                None if is_version => false,
                None => {
                    levels += 1;
                    findings.extend(self.check_word(segment));
                    true
                }
            };
        }
        if levels > LEVELS {
            findings.push(PathFinding::TooDeep(levels));
        }
        findings
    }

    fn check_word(&self, segment: &str) -> Option<PathFinding> {
        let has = |wanted: fn(u8) -> bool| segment.bytes().any(wanted);
        let owned = || segment.to_owned();
        if self.exceptions.contains(segment) {
            None
        } else if segment.is_empty() {
            Some(PathFinding::EmptySegment)
        } else if has(|byte| !byte.is_ascii_alphanumeric() && !b"-_".contains(&byte)) {
            Some(PathFinding::NotAWord(owned()))
        } else if has(|byte| byte.is_ascii_uppercase()) {
            Some(PathFinding::NotLowercase(owned()))
        } else if segment.contains('_') || segment.split('-').any(str::is_empty) {
            Some(PathFinding::NotHyphenated(owned()))
        } else if !is_plural(segment) {
            Some(PathFinding::NotPlural(owned()))
        } else {
            None
        }
    }
}

/// Name of the parameter, if the whole segment is a parameter in braces.
fn parameter(segment: &str) -> Option<&str> {
    let name = segment.strip_prefix('{')?.strip_suffix('}')?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (!name.is_empty() && name.bytes().all(is_name)).then_some(name)
}

fn is_version(segment: &str) -> bool {
    segment
        .strip_prefix('v')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns `true` if the last word of the segment is a plural.
fn is_plural(segment: &str) -> bool {
    let word = segment.rsplit('-').next().unwrap_or(segment);
    IRREGULAR.contains(&word)
        || (word.ends_with('s') && !SINGULAR_ENDINGS.iter().any(|ending| word.ends_with(ending)))
}
