//! One table `[[client]]`: its values, and the mistakes in them.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use toml::{Table, Value};

use crate::cli::settings::Mistake;

/// Keys of a table, in the order of the documentation.
const KEYS: &[&str] = &[
    "id",
    "name",
    "auth-method",
    "secret-file",
    "secret-env",
    "keys-file",
    "signing-algorithm",
    "grants",
    "scopes",
    "redirect-uris",
    "loopback-redirect-uris",
    "post-logout-redirect-uris",
    "backchannel-logout-uri",
    "sender-constraint",
    "audiences",
];

/// Values of a table. A value that cannot be used is refused once, as a mistake at its key.
pub(super) struct ClientTable<'m> {
    place: String,
    values: Table,
    mistakes: &'m mut Vec<Mistake>,
    refused: BTreeSet<&'static str>,
}

impl<'m> ClientTable<'m> {
    pub(super) fn new(number: usize, file: &str, values: Table, mistakes: &'m mut Vec<Mistake>) -> Self {
        let name = match values.get("id") {
            Some(Value::String(id)) => format!("`{id}`"),
            _ => number.to_string(),
        };
        Self {
            place: format!("client {name} in {file}"),
            values,
            mistakes,
            refused: BTreeSet::new(),
        }
    }

    /// Records a mistake at a key.
    pub(super) fn refuse(&mut self, key: &'static str, fault: impl Display) {
        self.refused.insert(key);
        let fault = format!("`{key}`: {fault}");
        self.mistakes.push(Mistake::new(&self.place, fault));
    }

    /// Returns `true` if a mistake is recorded at the key.
    pub(super) fn is_refused(&self, key: &str) -> bool {
        self.refused.contains(key)
    }

    pub(super) fn refuse_unknown_keys(&mut self) {
        let unknown = self.values.keys().filter(|key| !KEYS.contains(&key.as_str()));
        for key in unknown {
            let fault = format!("`{key}`: a client has no such key; it has {}", KEYS.join(", "));
            self.mistakes.push(Mistake::new(&self.place, fault));
        }
    }

    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        match self.values.get(key) {
            None => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                self.refuse(key, "the value is not a string");
                None
            }
        }
    }

    /// The strings of a list; `None` without the key.
    fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        let texts: Option<Vec<String>> = match self.values.get(key)? {
            Value::Array(values) => {
                let texts = values.iter().map(|value| value.as_str().map(str::to_owned));
                texts.collect()
            }
            _ => None,
        };
        if texts.is_none() {
            self.refuse(key, "the value is not a list of strings");
        }
        texts
    }

    pub(super) fn parsed<T: FromStr<Err: Display>>(&mut self, key: &'static str) -> Option<T> {
        let text = self.text(key)?;
        self.parse_by(key, &text, str::parse)
    }

    pub(super) fn required<T: FromStr<Err: Display>>(&mut self, key: &'static str) -> Option<T> {
        if !self.values.contains_key(key) {
            self.refuse(key, "missing");
        }
        self.parsed(key)
    }

    /// Every value of a list that can be parsed.
    pub(super) fn list<T: FromStr<Err: Display>>(&mut self, key: &'static str) -> Vec<T> {
        self.list_by(key, str::parse)
    }

    pub(super) fn list_by<T, E: Display>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Vec<T> {
        let texts = self.texts(key).unwrap_or_default();
        let values = texts.iter().filter_map(|text| self.parse_by(key, text, &parse));
        values.collect()
    }

    /// One value of these names.
    pub(super) fn one_of<T: Copy>(&mut self, key: &'static str, named: &[(&str, T)]) -> Option<T> {
        let text = self.text(key)?;
        self.parse_by(key, &text, |text| find(named, text))
    }

    /// Values of these names; `None` without the key.
    pub(super) fn list_of<T: Copy>(&mut self, key: &'static str, named: &[(&str, T)]) -> Option<Vec<T>> {
        let texts = self.texts(key)?;
        let values = texts
            .iter()
            .filter_map(|text| self.parse_by(key, text, |text| find(named, text)));
        Some(values.collect())
    }

    fn parse_by<T, E: Display>(
        &mut self,
        key: &'static str,
        text: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        let parsed = parse(text);
        let refused = parsed.map_err(|error| self.refuse(key, format!("`{text}`: {error}")));
        refused.ok()
    }
}

fn find<T: Copy>(named: &[(&str, T)], text: &str) -> Result<T, String> {
    let found = named.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
        format!("not one of {}", names.join(", "))
    })
}
