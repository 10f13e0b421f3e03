//! Faults of the arguments of one field.

use std::fmt::Write as _;

use juniper::Value;

use crate::response::MISTAKES;

/// Receives the faults of a value, at the place of that value.
#[derive(Debug)]
pub struct Faults<'f> {
    place: Place<'f>,
    found: &'f mut Vec<Fault>,
}

/// Place of a value in the arguments, as a linked list on the stack.
#[derive(Clone, Copy, Debug)]
enum Place<'f> {
    Arguments,
    Field(&'f Self, &'f str),
    Entry(&'f Self, usize),
}

/// Invalid value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    /// Argument, then fields and list indices.
    path: Vec<Step>,
    message: String,
}

/// Step of an argument path.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Entry(usize),
}

impl<'f> Faults<'f> {
    /// Adds the faults of the arguments of a field to `found`.
    pub(crate) fn new(found: &'f mut Vec<Fault>) -> Self {
        Self {
            place: Place::Arguments,
            found,
        }
    }

    /// Calls `check` with the place of the field `name`, by its GraphQL name.
    pub fn field(&mut self, name: &str, check: impl FnOnce(&mut Faults<'_>)) {
        check(&mut Faults {
            place: Place::Field(&self.place, name),
            found: self.found,
        });
    }

    /// Calls `check` with the place of the list entry `index`.
    pub fn entry(&mut self, index: usize, check: impl FnOnce(&mut Faults<'_>)) {
        check(&mut Faults {
            place: Place::Entry(&self.place, index),
            found: self.found,
        });
    }

    /// Reports a fault of the value at this place. The client receives the message.
    ///
    /// More than 100 faults of one field are not kept.
    pub fn report(&mut self, message: impl Into<String>) {
        if self.found.len() < MISTAKES {
            self.found.push(Fault {
                path: self.place.steps(),
                message: message.into(),
            });
        }
    }
}

impl Place<'_> {
    fn steps(&self) -> Vec<Step> {
        let (mut steps, mut place) = (Vec::new(), self);
        loop {
            place = match place {
                Self::Arguments => break,
                Self::Field(parent, name) => {
                    steps.push(Step::Field((*name).to_owned()));
                    parent
                }
                Self::Entry(parent, index) => {
                    steps.push(Step::Entry(*index));
                    parent
                }
            };
        }
        steps.reverse();
        steps
    }
}

impl Fault {
    /// Message for the client, which names the value: `input.emails[1]`.
    pub(crate) fn message(&self) -> String {
        let mut name = String::new();
        for step in &self.path {
            match step {
                Step::Field(field) if name.is_empty() => name.push_str(field),
                // writing to a string cannot fail
                Step::Field(field) => write!(name, ".{field}").unwrap_or_default(),
                Step::Entry(index) => write!(name, "[{index}]").unwrap_or_default(),
            }
        }
        format!("Argument \"{name}\" is invalid: {}", self.message)
    }

    /// Approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        let names = self.path.iter().map(|step| match step {
            Step::Field(name) => name.len(),
            Step::Entry(_) => 0,
        });
        names.sum::<usize>() + self.message.len() + self.path.len() * size_of::<Step>() + size_of::<Self>()
    }

    /// Value of `extensions.argumentPath`.
    pub(crate) fn argument_path(&self) -> Value {
        let steps = self.path.iter().map(|step| match step {
            Step::Field(name) => Value::scalar(name.clone()),
            Step::Entry(index) => Value::scalar(i32::try_from(*index).unwrap_or(i32::MAX)),
        });
        Value::list(steps.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G29: at most 100 faults of a field are kept.
    #[test]
    fn keeps_at_most_100_faults() {
        let mut found = Vec::new();
        let mut faults = Faults::new(&mut found);
        for index in 0..10_000 {
            faults.entry(index, |faults| faults.report("is refused"));
        }
        assert_eq!(found.len(), MISTAKES);
    }
}
