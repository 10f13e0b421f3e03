//! A linter for route templates.

use std::collections::BTreeSet;

/// Plurals that do not end in `s`, and words that have no other form.
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
/// Singulars that end in `s`, by their endings.
const SINGULAR_ENDINGS: [&str; 3] = ["ss", "us", "is"];
const LEVELS: usize = 2;

/// What a path is held to.
#[derive(Clone, Debug, Default)]
pub struct PathRules {
    exceptions: BTreeSet<Box<str>>,
}

/// What is wrong with a route template.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFinding {
    /// It does not begin with `/`.
    #[error("the path does not begin with a slash")]
    NotAbsolute,
    /// Nothing stands between two slashes, or after the last.
    #[error("a segment is empty")]
    EmptySegment,
    /// A segment is no word of lowercase letters, digits and hyphens.
    #[error("{0:?} is not lowercase")]
    NotLowercase(String),
    /// Its words are not joined by single hyphens.
    #[error("{0:?} is not hyphenated")]
    NotHyphenated(String),
    /// A segment has characters that a word does not have: a dot, a percent sign, braces around a part of it.
    #[error("{0:?} is neither a word nor a parameter")]
    NotAWord(String),
    /// A collection is not named in the plural.
    #[error("{0:?} is not a plural")]
    NotPlural(String),
    /// A parameter stands where there is no collection that it is one of.
    #[error("the parameter {0:?} does not follow a collection")]
    NoCollection(String),
    /// More collections are nested than two.
    #[error("{0} levels are more than two")]
    TooDeep(usize),
}

impl PathRules {
    /// This segment is as it is, in any template.
    #[must_use]
    pub fn with_exception(mut self, segment: &str) -> Self {
        self.exceptions.insert(segment.into());
        self
    }

    /// Everything that is wrong with a template such as `/v1/charges/{id}/refunds`, in the order of its segments; nothing where
    /// it keeps the rules.
    ///
    /// A version `v<N>` at the beginning counts as no level.
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

/// The name between braces that are the whole segment.
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

/// The last word of a compound is the one that counts.
fn is_plural(segment: &str) -> bool {
    let word = segment.rsplit('-').next().unwrap_or(segment);
    IRREGULAR.contains(&word)
        || (word.ends_with('s') && !SINGULAR_ENDINGS.iter().any(|ending| word.ends_with(ending)))
}
