//! Subscriptions: [`graphql-transport-ws`](transport_ws) over WebSocket, [`graphql-sse`](sse) over
//! server-sent events, and Apollo's [`multipart`] responses.
//!
//! No protocol opens a socket, spawns a task or sets a timer. The responses of an operation
//! come from [`Engine::subscribe`](crate::Engine::subscribe).

mod item;
pub mod multipart;
mod operation_id;
mod produced;
pub mod sse;
pub mod transport_ws;

pub(crate) use self::item::StreamItem;
pub(crate) use self::operation_id::OperationId;
pub(crate) use self::produced::{Emitter, produced};
