//! The service as a whole: documents, pages, bad input and the tour.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod account;
mod authorization;
mod bad_input;
mod browser;
mod checklist;
mod compliance;
mod desk;
mod end_session;
mod exits;
mod fan_out;
mod graph;
mod guesses;
mod idempotency;
mod limits;
mod lists;
mod methods;
mod mutual_tls;
mod opaque;
mod openapi;
mod pages;
mod parallel_requests;
mod passwords;
mod possession;
mod preconditions;
mod refunds;
mod reset;
mod same_answers;
mod servers;
mod sign_in;
mod stolen_tokens;
mod subscriptions;
mod tour;
mod unread;
mod webhooks;
