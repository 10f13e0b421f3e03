//! Audits a live HTTP API: sends what shows whether the rules of `http_conventions` are kept, and reports what is not.

pub mod client;
pub mod options;
pub mod plan;
pub mod report;
pub mod site;
