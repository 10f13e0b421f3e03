//! Faults of the members of JSON content.

use std::borrow::Cow;

use crate::errors::{Member, Problem, ProblemBase, types};

/// Maximum length of a pointer in a problem, in bytes. A longer pointer is replaced by the pointer
/// of an object or array around the value.
const LONGEST_POINTER: usize = 256;

/// A fault of one member of JSON content.
///
/// The codes of this crate are stable:
///
/// | code | meaning |
/// |---|---|
/// | `wrong-type` | a value of another JSON type |
/// | `out-of-range` | an integer outside of the range of its type |
/// | `missing` | a required member is absent |
/// | `unknown-member` | the type has no such member, and does not ignore unknown members |
/// | `duplicate-member` | a member is given twice |
/// | `unknown-value` | a string that is not one of the listed ones |
/// | `wrong-length` | an array with too few or too many items |
/// | `invalid-value` | a value that the type refuses for a reason of its own |
/// | `read-only` | a patch changes a member that clients cannot write |
/// | `no-such-location` | an operation of a patch needs a location that does not exist |
/// | `test-failed` | a `test` operation of a patch found another value |
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    pointer: String,
    code: &'static str,
    detail: Cow<'static, str>,
}

impl Fault {
    /// Creates a fault from the pointer of the member ([RFC
    /// 6901](https://www.rfc-editor.org/rfc/rfc6901)), a stable code for programs, and a
    /// description.
    ///
    /// # Security
    ///
    /// The client receives `detail`: leave out internals and secrets.
    #[must_use]
    pub fn new(pointer: impl Into<String>, code: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            pointer: pointer.into(),
            code,
            detail: detail.into(),
        }
    }

    /// JSON pointer of the member; empty for the whole content.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Code for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// Description for the developer of the client.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }

    fn member(self) -> Member {
        let mut pointer = self.pointer;
        while pointer.len() > LONGEST_POINTER {
            let end = pointer.rfind('/').unwrap_or(0);
            pointer.truncate(end);
        }
        Member::Object(vec![
            ("pointer".into(), pointer.into()),
            ("code".into(), self.code.into()),
            ("detail".into(), Member::Text(self.detail)),
        ])
    }
}

/// Faults of the members of JSON content, at least one.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid content, number of faults: {}", self.faults.len())]
pub struct Faults {
    faults: Vec<Fault>,
    is_complete: bool,
}

impl Faults {
    /// `is_complete` is `false` if the content may have more faults.
    pub(crate) const fn new(faults: Vec<Fault>, is_complete: bool) -> Self {
        Self { faults, is_complete }
    }

    /// Adds a fault, for example of a rule of the host.
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Adds faults of other locations.
    pub(crate) fn extend(&mut self, others: Self) {
        for fault in others.faults {
            if !self.faults.iter().any(|known| known.pointer == fault.pointer) {
                self.faults.push(fault);
            }
        }
        self.is_complete &= others.is_complete;
    }

    /// The faults, mostly in the order of the content.
    #[must_use]
    pub fn all(&self) -> &[Fault] {
        &self.faults
    }

    /// Returns `false` if the content may have more faults, because the limit of faults or of work
    /// was reached, or because an invalid value prevents the check of the values around it.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Creates the 422 problem. Its extension `errors` lists `pointer`, `code` and `detail` of each
    /// fault.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        let problem = types::INVALID_CONTENT.problem(base);
        let problem = match self.is_complete {
            true => problem,
            false => {
                problem.with_detail("errors may be incomplete: correct these and send the request again")
            }
        };
        problem.with_extension("errors", self.members())
    }

    pub(crate) fn members(self) -> Member {
        Member::List(self.faults.into_iter().map(Fault::member).collect())
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self::new(vec![fault], true)
    }
}
