//! Validators, preconditions and 304 responses.

mod entity_tag;
mod field;
mod not_modified;
mod precondition;
mod range;
mod validators;

pub use self::{
    entity_tag::{EntityTag, InvalidEntityTag},
    not_modified::not_modified,
    precondition::{PreconditionDecision, Preconditions},
    validators::Validators,
};
