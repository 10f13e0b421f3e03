//! Audits a live HTTP API: sends test requests and reports violations of the rules of
//! `http_conventions`.

pub mod attack;
pub mod client;
pub mod options;
pub mod plan;
pub mod report;
pub mod site;
