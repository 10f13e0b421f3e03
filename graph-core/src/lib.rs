#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod compat;
pub mod connection;
mod document;
pub mod engine;
pub mod error;
#[doc(hidden)]
pub mod executor;
pub mod guard;
pub mod http;
pub mod limits;
pub mod loader;
pub mod ports;
pub mod response;
mod subscription;
#[cfg(feature = "testing")]
pub mod testing;

pub use crate::engine::Engine;
pub use crate::error::{ErrorCode, GraphError};
pub use crate::guard::{Principal, RequestContext};
pub use crate::ports::{Incident, IncidentLog};
