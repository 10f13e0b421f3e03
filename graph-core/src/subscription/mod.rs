//! Subscriptions on the wire: [`graphql-transport-ws`](transport_ws) over WebSocket, and both modes of
//! [`graphql-sse`](sse) over server-sent events.
//!
//! Neither opens a socket, starts a task or reads a clock. What an operation answers comes from
//! [`Engine::subscribe`](crate::Engine::subscribe) in each of them.

mod operation_id;
mod produced;
pub mod sse;
pub mod transport_ws;

pub(crate) use self::operation_id::OperationId;
pub(crate) use self::produced::{Emitter, produced};
