//! Compares a response with graphql-js's; `tests/oracle/judge.mjs` writes and explains the cases.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) schema: String,
    pub(crate) request: Value,
    /// Text of `data`; `None` if nothing was executed.
    data: Option<String>,
    #[serde(default)]
    errors: Vec<Vec<Failure>>,
    /// Line in its file.
    #[serde(skip)]
    pub(crate) line: String,
}

impl Case {
    pub(crate) fn new(line: &str) -> Self {
        let case: Self = serde_json::from_str(line).unwrap();
        Self {
            line: line.to_owned(),
            ..case
        }
    }
}

/// Entry of `errors`; `None` in a case matches any value.
#[derive(Deserialize)]
pub(crate) struct Failure {
    path: Value,
    locations: Option<Value>,
    message: Option<String>,
}

impl Failure {
    pub(crate) fn allows(&self, seen: &Self) -> bool {
        self.path == seen.path
            && (self.locations.is_none() || self.locations == seen.locations)
            && (self.message.is_none() || self.message == seen.message)
    }
}

#[derive(Deserialize)]
struct Executed<'a> {
    #[serde(borrow)]
    data: &'a RawValue,
    #[serde(default)]
    errors: Vec<Failure>,
}

/// Compares a response with a case.
pub(crate) fn judge(case: &Case, answered: &[u8]) -> Result<(), String> {
    let envelope: Value = serde_json::from_slice(answered).map_err(|error| error.to_string())?;
    let is_refusal = envelope.get("data").is_none() && envelope.get("errors").is_some();
    let Some(data) = &case.data else {
        return is_refusal.then_some(()).ok_or("it should be refused".to_owned());
    };
    if is_refusal {
        return Err("it should not be refused".to_owned());
    }
    let executed: Executed<'_> = serde_json::from_slice(answered).map_err(|error| error.to_string())?;
    if executed.data.get() != data {
        return Err("data differs".to_owned());
    }
    judge_errors(&case.errors, &executed.errors)
}

/// Compares errors with the groups of a case.
pub(crate) fn judge_errors(groups: &[Vec<Failure>], seen: &[Failure]) -> Result<(), String> {
    let mut told = vec![0; groups.len()];
    for (number, seen) in seen.iter().enumerate() {
        let group = groups
            .iter()
            .position(|group| group.iter().any(|it| it.allows(seen)));
        let group = group.ok_or(format!("error {number} is none of graphql-js's"))?;
        told[group] += 1;
    }
    if let Some(group) = told.iter().position(|times| *times == 0) {
        return Err(format!("nothing is told of {}", groups[group][0].path));
    }
    let most = |group: usize| groups[group].len();
    if told.iter().enumerate().any(|(group, times)| *times > most(group)) {
        return Err("an error is told twice".to_owned());
    }
    Ok(())
}
