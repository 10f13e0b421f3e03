//! The tour as one HTML page: each step with its requests and responses.
//!
//! The page is complete in one file, loads nothing and has no script, so that it can be sent by
//! mail.

use std::io;

use askama::Template;

use super::record::{Message, RecordedExchange};
use super::report::{Chapter, StepLine};

/// Longest body that is shown, in characters.
const LONGEST_BODY: usize = 8_000;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    chapters: &'a [Chapter],
    exchanges: &'a [RecordedExchange],
    steps: usize,
    failed: usize,
}

impl Page<'_> {
    fn exchanges_of(&self, step: &StepLine) -> &[RecordedExchange] {
        self.exchanges.get(step.exchanges.clone()).unwrap_or_default()
    }
}

impl RecordedExchange {
    /// Request line, header lines and body.
    fn request(&self) -> String {
        format_message(&format!("{} {} HTTP/1.1", self.method, self.target), &self.sent)
    }

    /// Status line, header lines and body.
    fn response(&self) -> String {
        format_message(&format!("HTTP/1.1 {}", self.status), &self.received)
    }

    /// Class of the status: `2` for 200.
    fn status_class(&self) -> u16 {
        self.status / 100
    }
}

/// Renders the page.
///
/// # Errors
///
/// Returns an error if the template fails.
pub(super) fn render(chapters: &[Chapter], exchanges: &[RecordedExchange]) -> io::Result<String> {
    let steps = || chapters.iter().flat_map(|chapter| &chapter.steps);
    let page = Page {
        chapters,
        exchanges,
        steps: steps().count(),
        failed: steps().filter(|step| step.expected.is_some()).count(),
    };
    page.render().map_err(io::Error::other)
}

fn format_message(first_line: &str, message: &Message) -> String {
    let mut text = first_line.to_owned();
    for (name, value) in &message.fields {
        text.extend(["\n", name, ": ", value]);
    }
    match message.content.as_deref() {
        None => text.push_str("\n\n(a stream)"),
        Some("") => {}
        Some(content) => {
            text.push_str("\n\n");
            text.push_str(&format_body(content));
        }
    }
    text
}

/// The body, with JSON indented, up to [`LONGEST_BODY`].
fn format_body(content: &str) -> String {
    let indented = serde_json::from_str::<serde_json::Value>(content)
        .ok()
        .and_then(|json| serde_json::to_string_pretty(&json).ok());
    let content = indented.as_deref().unwrap_or(content);
    match content.char_indices().nth(LONGEST_BODY) {
        None => content.to_owned(),
        Some((end, _)) => {
            let (kept, rest) = content.split_at(end);
            format!("{kept}\n({} more characters)", rest.chars().count())
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{Request, Response};

    use super::*;
    use crate::record::{SentRequest, record};
    use crate::report::{Report, mismatch, passed};

    #[tokio::test]
    async fn page_shows_failed_step_open_and_escapes_its_text() {
        let mut report = Report::new(Vec::new(), false);
        let walk = async {
            report.chapter("Sign in");
            let request = Request::post("/a").header("accept", "text/html");
            let request = request.body(Bytes::from_static(b"<script>")).unwrap();
            let answer = Response::builder().status(404).body(()).unwrap();
            SentRequest::new(&request).record(&answer, Some(&Bytes::from_static(b"{\"a\":1}")));
            report.step("first", passed("POST /a", "404")).unwrap();
            SentRequest::new(&request).record(&answer, None);
            let wrong = Err::<_, _>(mismatch(
                "POST /a",
                "status 200",
                r#"404 & {"refresh_token":"rt_c2VjcmV0LXNlY3JldA"}"#,
            ));
            report.step::<()>("second", wrong).unwrap_err();
        };
        let ((), exchanges) = record(walk).await;
        let page = render(report.chapters(), &exchanges).unwrap();
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("&#60;script&#62;"), "{page}");
        assert!(page.contains("2 steps, 1 failed"), "{page}");
        assert_eq!(page.matches("<details class=\"step").count(), 2);
        let (first, second) = page.split_once("second").unwrap();
        assert!(
            first.contains("&quot;a&quot;: 1") || first.contains("&#34;a&#34;: 1"),
            "{first}"
        );
        assert!(
            first.ends_with(" open><summary><b>2</b> <span class=\"mark\">✗ failed</span> "),
            "{first}"
        );
        assert!(second.contains("expected status 200"), "{second}");
        assert!(second.contains("(a stream)"), "{second}");
        assert!(
            second.contains("refresh_token") && !page.contains("c2VjcmV0"),
            "{second}"
        );
    }

    #[test]
    fn long_body_is_cut_between_characters() {
        let body = "é".repeat(LONGEST_BODY + 2);
        assert!(format_body(&body).ends_with("é\n(2 more characters)"));
    }
}
