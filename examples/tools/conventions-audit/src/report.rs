//! The report of an audit.

use std::fmt::Write as _;

use bytes::Bytes;
use http::{Request, Response};
use http_conventions::audit::Finding;
use serde_json::json;

/// Findings of an audit, in the order of the requests.
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
    /// Adds the findings of one response.
    pub fn add(&mut self, request: &Request<Bytes>, answer: &Response<Bytes>, findings: Vec<Finding>) {
        let target = request
            .uri()
            .path_and_query()
            .map_or("/", |target| target.as_str());
        // shortened and escaped: the paths come from the server's document and are untrusted
        let shown: String = target.chars().take(80).flat_map(char::escape_debug).collect();
        self.entries.extend(findings.into_iter().map(|finding| Entry {
            request: format!("{} {shown}", request.method()),
            status: answer.status().as_u16(),
            finding,
        }));
    }

    /// Counts one response. [`add`](Self::add) does not count it.
    pub const fn count_response(&mut self) {
        self.answers += 1;
    }

    /// Returns `true` if there is no finding.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.entries.is_empty()
    }

    /// The findings.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.entries.iter().map(|entry| &entry.finding)
    }

    /// Formats one line per finding, and a last line with the number of findings and responses.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            // writing to a string never fails
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

    /// Formats the report as one JSON object.
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
