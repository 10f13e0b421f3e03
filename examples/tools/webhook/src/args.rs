//! Parses the arguments after the command into flags and operands.

use std::str::FromStr;

use crate::{Failure, show, usage};

/// Parsed arguments of one command.
pub(crate) struct Args {
    values: Vec<(&'static str, String)>,
    operands: Vec<String>,
}

impl Args {
    /// Parses arguments. `valued` flags take a value, after a space or `=`; `switches` take none.
    /// All arguments after `--` are operands.
    pub(crate) fn parse(
        words: Vec<String>,
        valued: &[&'static str],
        switches: &[&'static str],
    ) -> Result<Self, Failure> {
        let (mut values, mut operands) = (Vec::new(), Vec::new());
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if word == "--" {
                operands.extend(words);
                break;
            }
            if !word.starts_with('-') {
                operands.push(word);
                continue;
            }
            if word == "--help" || word == "-h" {
                return Err(Failure::Help);
            }
            let (name, attached) = match word.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (word, None),
            };
            if let Some(flag) = valued.iter().find(|flag| **flag == name) {
                let value = attached.or_else(|| words.next());
                values.push((
                    *flag,
                    value.ok_or_else(|| usage(format!("{name} needs a value")))?,
                ));
            } else if let Some(flag) = switches.iter().find(|flag| **flag == name && attached.is_none()) {
                values.push((*flag, String::new()));
            } else {
                return Err(usage(format!("unknown flag `{}`", show::word(&name))));
            }
        }
        Ok(Self { values, operands })
    }

    /// Returns the only operand; `name` is its name in messages. The error does not quote further
    /// operands, because they may be the rest of a secret with spaces.
    pub(crate) fn operand(&self, name: &str) -> Result<&str, Failure> {
        match self.operands.as_slice() {
            [one] => Ok(one),
            [] => Err(usage(format!("{name} is missing"))),
            [_, _, ..] => Err(usage(format!("unexpected operand after {name}"))),
        }
    }

    /// Fails if there is an operand.
    pub(crate) fn without_operands(self) -> Result<Self, Failure> {
        if self.operands.is_empty() {
            Ok(self)
        } else {
            Err(usage("unexpected operand, this command takes flags only"))
        }
    }

    pub(crate) fn has(&self, flag: &str) -> bool {
        self.values.iter().any(|(name, _)| *name == flag)
    }

    pub(crate) fn all(&self, flag: &str) -> impl Iterator<Item = &str> {
        let values = self.values.iter().filter(move |(name, _)| *name == flag);
        values.map(|(_, value)| value.as_str())
    }

    /// Value of a flag that may be given once.
    pub(crate) fn one(&self, flag: &str) -> Result<Option<&str>, Failure> {
        let mut values = self.all(flag);
        let value = values.next();
        match values.next() {
            None => Ok(value),
            Some(_) => Err(usage(format!("{flag} is given more than once"))),
        }
    }

    /// Parsed value of a flag that may be given once; `expected` describes it in messages.
    pub(crate) fn read<T: FromStr>(&self, flag: &str, expected: &str) -> Result<Option<T>, Failure> {
        let value = self.one(flag)?;
        let read = |value: &str| {
            let refused = |_| {
                usage(format!(
                    "{flag} does not take `{}`: {expected}",
                    show::word(value)
                ))
            };
            value.parse().map_err(refused)
        };
        value.map(read).transpose()
    }
}
