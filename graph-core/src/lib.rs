#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

// generated code names `graph_core`, also inside this crate
extern crate self as graph_core;

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
pub mod look_ahead;
mod mask;
pub mod memory;
pub mod metrics;
pub mod node;
mod observe;
pub mod persisted;
pub mod ports;
pub mod response;
mod schema;
pub mod subscription;
pub mod validate;

pub use graph_core_macros::{
    GraphEnum, GraphInput, GraphObject, graph_interface, graph_object, graph_subscription, graph_union,
};

pub use crate::connection::{Cursors, PageRequest};
pub use crate::engine::{ConfigError, Engine, EngineBuilder};
pub use crate::error::{ErrorCode, GraphError};
pub use crate::guard::{GuardMode, Principal, RequestContext};
pub use crate::http::{GraphRequest, HttpResponse};
pub use crate::limits::Limits;
pub use crate::loader::{Batch, SelectiveBatch};
pub use crate::look_ahead::LookAhead;
pub use crate::metrics::Metrics;
pub use crate::persisted::{AutomaticPersistedQueries, TrustedDocuments};
pub use crate::ports::{Incident, IncidentLog};
pub use crate::response::GraphResponse;
