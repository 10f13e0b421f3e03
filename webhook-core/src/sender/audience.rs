//! Tenants: who owns an endpoint, and whose endpoints get an event.
//!
//! ```
//! use webhook_core::sender::{Audience, Owner};
//!
//! let (acme, zenith) = ("acme".parse()?, "zenith".parse()?);
//! let audience = Audience::tenant(acme);
//! assert!(!audience.includes(&Owner::Tenant(zenith)));
//! assert!(!audience.includes(&Owner::Operator));
//!
//! // every tenant, and never the operator
//! assert!(Audience::everyone().includes(&Owner::Tenant("zenith".parse()?)));
//! assert!(!Audience::everyone().includes(&Owner::Operator));
//! # Ok::<_, webhook_core::sender::InvalidTenantId>(())
//! ```

use std::{fmt, str::FromStr, sync::Arc};

use super::UnknownTerm;

const MAX_LENGTH: usize = 256;
const OPERATOR: &str = "operator";
const EVERYONE: &str = "everyone";
const TENANT: &str = "tenant:";

/// Identifier of a tenant, which is a customer of the host: 1 to 256 visible ASCII characters,
/// compared byte for byte.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TenantId {
    type Err = InvalidTenantId;

    fn from_str(text: &str) -> Result<Self, InvalidTenantId> {
        if (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidTenantId(()))
        }
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error: a tenant id is empty, longer than 256 bytes, or contains a space, a control character or
/// a non-ASCII character.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a tenant id is 1 to 256 visible ASCII characters")]
pub struct InvalidTenantId(());

/// Owner of an endpoint. It never changes: to move an endpoint, register it anew.
///
/// Stores keep the text of `Display`: `tenant:acme` or `operator`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Owner {
    /// A tenant. A host without tenants uses one id for all endpoints, such as `default`.
    Tenant(TenantId),
    /// The operator of the host, who gets the [operational events](super::OperationalEvent).
    Operator,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tenant(tenant) => write!(f, "{TENANT}{tenant}"),
            Self::Operator => f.write_str(OPERATOR),
        }
    }
}

impl FromStr for Owner {
    type Err = UnknownTerm;

    fn from_str(text: &str) -> Result<Self, UnknownTerm> {
        match text.strip_prefix(TENANT) {
            Some(tenant) => tenant.parse().map(Self::Tenant).map_err(|_| UnknownTerm),
            None if text == OPERATOR => Ok(Self::Operator),
            None => Err(UnknownTerm),
        }
    }
}

/// Owners whose endpoints get an event. Each event has exactly one audience.
///
/// An event is never delivered to the endpoint of another owner: [`EndpointStore::subscribers`]
/// selects by the audience, and the dispatcher checks each delivery again before it is sent.
///
/// Stores keep the text of `Display`: `tenant:acme`, `operator` or `everyone`.
///
/// [`EndpointStore::subscribers`]: super::EndpointStore::subscribers
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Audience(Scope);

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Scope {
    One(Owner),
    EveryTenant,
}

impl Audience {
    /// The endpoints of one tenant.
    #[must_use]
    pub const fn tenant(tenant: TenantId) -> Self {
        Self(Scope::One(Owner::Tenant(tenant)))
    }

    /// The endpoints of the operator.
    #[must_use]
    pub const fn operator() -> Self {
        Self(Scope::One(Owner::Operator))
    }

    /// The endpoints of all tenants, but not those of the operator.
    ///
    /// # Security
    ///
    /// Each tenant can read the event. Use it only for events without data of a tenant.
    #[must_use]
    pub const fn everyone() -> Self {
        Self(Scope::EveryTenant)
    }

    /// The only owner whose endpoints get the event; `None` for [`everyone`](Self::everyone).
    #[must_use]
    pub const fn only(&self) -> Option<&Owner> {
        match &self.0 {
            Scope::One(owner) => Some(owner),
            Scope::EveryTenant => None,
        }
    }

    /// Returns `true` if the endpoints of `owner` get the event.
    #[must_use]
    pub fn includes(&self, owner: &Owner) -> bool {
        match &self.0 {
            Scope::One(one) => one == owner,
            Scope::EveryTenant => *owner != Owner::Operator,
        }
    }
}

impl From<Owner> for Audience {
    fn from(owner: Owner) -> Self {
        Self(Scope::One(owner))
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Scope::One(owner) => owner.fmt(f),
            Scope::EveryTenant => f.write_str(EVERYONE),
        }
    }
}

impl FromStr for Audience {
    type Err = UnknownTerm;

    fn from_str(text: &str) -> Result<Self, UnknownTerm> {
        if text == EVERYONE {
            return Ok(Self::everyone());
        }
        text.parse().map(|owner: Owner| owner.into())
    }
}
