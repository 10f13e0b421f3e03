//! Collects the guards of an operation.

use crate::executor::TypeInfo;
use crate::guard::demand::{Guard, Guarded, Policies};
use crate::response::Location;

/// Guards found so far.
#[derive(Debug, Default)]
pub(super) struct PolicyList {
    distinct: Vec<Box<[Guard]>>,
    guarded: Vec<Guarded>,
}

impl PolicyList {
    /// Adds a field with its own guards and those of its parent and return types.
    pub(super) fn field(
        &mut self,
        of_types: [&[Guard]; 2],
        own: &[Guard],
        (parent, field): (&'static str, &'static str),
        location: Location,
    ) -> Option<u16> {
        let mut guards = Vec::new();
        for guard in of_types.into_iter().chain([own]).flatten() {
            if !guards.contains(guard) {
                guards.push(*guard);
            }
        }
        let policy = self.known(guards)?;
        self.guarded.push(Guarded {
            policy,
            location,
            parent,
            field: Some(field),
        });
        Some(policy)
    }

    /// Adds an object type of an interface or union.
    pub(super) fn object(&mut self, info: &'static TypeInfo, location: Location) -> Option<u16> {
        let policy = self.known(info.guards.to_vec())?;
        self.guarded.push(Guarded {
            policy,
            location,
            parent: info.name,
            field: None,
        });
        Some(policy)
    }

    /// Index of a list of guards; `None` for an empty list.
    fn known(&mut self, guards: Vec<Guard>) -> Option<u16> {
        if guards.is_empty() {
            return None;
        }
        let known = self.distinct.iter().position(|known| **known == *guards);
        let at = known.unwrap_or_else(|| {
            self.distinct.push(guards.into());
            self.distinct.len() - 1
        });
        // bounded by the number of fields of a plan
        Some(u16::try_from(at).unwrap_or(u16::MAX))
    }
}

impl From<PolicyList> for Policies {
    fn from(list: PolicyList) -> Self {
        Self {
            distinct: list.distinct.into(),
            guarded: list.guarded.into(),
        }
    }
}
