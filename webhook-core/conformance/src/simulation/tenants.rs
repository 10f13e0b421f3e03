//! Tenants of a run: receivers with an even number belong to one tenant, the others to another.

use webhook_core::{
    event::EventId,
    sender::{Audience, Owner},
};

/// Owner of the receiver with this number.
#[expect(clippy::expect_used, reason = "the ids are well-formed")]
pub(super) fn owner(site: usize) -> Owner {
    let tenant = if site.is_multiple_of(2) { "even" } else { "odd" };
    Owner::Tenant(tenant.parse().expect("an id"))
}

/// Audience of the event with this number: half of the events are for everyone.
pub(super) fn audience(event: usize) -> Audience {
    match event % 4 {
        0 | 1 => Audience::everyone(),
        other => owner(other).into(),
    }
}

/// Returns `true` if a receiver may get an event; ids are those of the run.
pub(super) fn may_get(event: &EventId, site: usize) -> bool {
    let number = event.as_str().rsplit('_').next();
    let number = number.and_then(|number| number.parse().ok());
    number.is_some_and(|number| audience(number).includes(&owner(site)))
}
