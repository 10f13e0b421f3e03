//! What was found.

use std::fmt::Write as _;

use bytes::Bytes;
use http::{Request, Response};
use http_conventions::audit::Finding;
use serde_json::json;

/// The findings of an audit, in the order they were made.
#[derive(Clone, Debug, Default)]
pub struct Report {
    answers: usize,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    request: String,
    status: u16,
    finding: Finding,
}

impl Report {
    /// Adds what was found in one answer.
    pub fn note(&mut self, request: &Request<Bytes>, answer: &Response<Bytes>, findings: Vec<Finding>) {
        let target = request
            .uri()
            .path_and_query()
            .map_or("/", |target| target.as_str());
        // what is long on purpose would fill the screen, and a path of the server's document may hold anything
        let shown: String = target.chars().take(80).flat_map(char::escape_debug).collect();
        self.entries.extend(findings.into_iter().map(|finding| Entry {
            request: format!("{} {shown}", request.method()),
            status: answer.status().as_u16(),
            finding,
        }));
    }

    /// One answer more was looked at.
    pub const fn count(&mut self) {
        self.answers += 1;
    }

    /// Whether nothing was found.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.entries.is_empty()
    }

    /// The findings.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.entries.iter().map(|entry| &entry.finding)
    }

    /// A line for each finding, and one for how many there are.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            // a string does not refuse to be written to
            let _written = writeln!(text, "{} ({}): {}", entry.request, entry.status, entry.finding);
        }
        let _written = write!(
            text,
            "{} findings in {} answers",
            self.entries.len(),
            self.answers
        );
        text
    }

    /// The same as one JSON object.
    #[must_use]
    pub fn json(&self) -> String {
        let findings: Vec<_> = self
            .entries
            .iter()
            .map(|entry| {
                json!({
                    "request": entry.request,
                    "status": entry.status,
                    "rule": entry.finding.rule().name(),
                    "convention": entry.finding.rule().convention(),
                    "section": entry.finding.rule().section(),
                    "detail": entry.finding.detail(),
                })
            })
            .collect();
        json!({ "answers": self.answers, "findings": findings }).to_string()
    }
}
