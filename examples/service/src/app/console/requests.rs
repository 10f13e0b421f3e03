//! `/console/requests`: the last requests, and what the pipeline decided.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem};

use super::super::lists::query_parameter;
use super::super::traffic::{Half, STAGES, Seen, Stage};
use super::super::{App, Handled};
use super::charges::Tab;
use super::effects::{Changed, changed, has_unknown_effects};
use super::text::{briefly, clock, moment, took};
use super::{Frame, Visitor, page};

/// Maximum number of rows of the list.
const ROWS: usize = 50;

#[derive(Template)]
#[template(path = "console/requests.html")]
struct RequestsPage {
    frame: Frame,
    tabs: Vec<Tab>,
    status: String,
    wanted: String,
    rows: Vec<Row>,
    matching: usize,
    kept: usize,
    older: String,
}

struct Row {
    id: String,
    method: String,
    target: String,
    status: u16,
    class: u16,
    ended_by: &'static str,
    is_replay: bool,
    took: String,
    at: String,
}

#[derive(Template)]
#[template(path = "console/request.html")]
struct RequestPage {
    frame: Frame,
    row: Row,
    at: String,
    reason: &'static str,
    problem: Option<String>,
    /// Resources that the request changed.
    effects: Vec<Changed>,
    /// The request may have changed others too.
    has_unknown_effects: bool,
    stages: Vec<StageShown>,
    sent: Shown,
    answer: Shown,
    curl: String,
}

/// Header fields and content, for the page.
struct Shown {
    fields: Vec<(String, String)>,
    content: String,
}

struct StageShown {
    name: &'static str,
    class: &'static str,
    pill: &'static str,
    word: &'static str,
    says: &'static str,
    /// Duration; a dash for a stage without one.
    took: String,
}

impl App {
    pub(super) async fn show_requests(&self, request: &Request<Bytes>, visitor: &Visitor) -> Handled {
        let status = query_parameter(request, "status").unwrap_or_default();
        let wanted = query_parameter(request, "q").unwrap_or_default();
        let skipped = query_parameter(request, "skip")
            .and_then(|skip| skip.parse().ok())
            .unwrap_or(0);
        let all = self.console_state.traffic.all();
        let found: Vec<&Arc<Seen>> = all
            .iter()
            .filter(|seen| is_of(seen, &status))
            .filter(|seen| wanted.is_empty() || seen.id.contains(&wanted) || seen.target.contains(&wanted))
            .collect();
        let older = match found.len() > skipped + ROWS {
            true => form_urlencoded::Serializer::new(String::new())
                .append_pair("status", &status)
                .append_pair("q", &wanted)
                .append_pair("skip", &(skipped + ROWS).to_string())
                .finish(),
            false => String::new(),
        };
        let requests = RequestsPage {
            frame: self.frame("requests", visitor).await?,
            tabs: tabs(&all, &status),
            rows: found
                .iter()
                .skip(skipped)
                .take(ROWS)
                .map(|seen| Row::of(seen))
                .collect(),
            matching: found.len(),
            kept: all.len(),
            status,
            wanted,
            older,
        };
        page(StatusCode::OK, &requests)
    }

    pub(super) async fn show_request(&self, id: &str, visitor: &Visitor) -> Handled {
        let all = self.console_state.traffic.all();
        let seen = all.iter().find(|seen| seen.id == id);
        let seen = seen.ok_or_else(|| Problem::new(ErrorStatus::NOT_FOUND))?;
        let shown = RequestPage {
            frame: self.frame("requests", visitor).await?,
            row: Row::of(seen),
            at: moment(seen.at),
            reason: seen.status.canonical_reason().unwrap_or_default(),
            problem: seen.problem(),
            effects: changed(seen),
            has_unknown_effects: has_unknown_effects(seen),
            stages: stages(seen),
            sent: Shown::of(&seen.sent),
            answer: Shown::of(&seen.answer),
            curl: seen.curl(&self.base_url),
        };
        page(StatusCode::OK, &shown)
    }
}

/// Returns `true` if the request is of the chosen kind, for example `4xx`.
fn is_of(seen: &Seen, chosen: &str) -> bool {
    let status = seen.status.as_u16();
    match chosen {
        "" => true,
        "2xx" => status / 100 == 2,
        "3xx" => status / 100 == 3,
        "4xx" => status / 100 == 4,
        "5xx" => status / 100 == 5,
        "replayed" => seen.is_replay,
        exact => exact.parse() == Ok(status),
    }
}

fn tabs(all: &[Arc<Seen>], chosen: &str) -> Vec<Tab> {
    let kinds = [
        ("", "All"),
        ("2xx", "2xx"),
        ("3xx", "3xx"),
        ("4xx", "4xx"),
        ("5xx", "5xx"),
        ("replayed", "Replayed"),
    ];
    let tab = |(kind, name): (&'static str, &'static str)| Tab {
        path: match kind {
            "" => "/console/requests".to_owned(),
            kind => format!("/console/requests?status={kind}"),
        },
        name,
        count: u64::try_from(all.iter().filter(|seen| is_of(seen, kind)).count()).ok(),
        is_chosen: kind == chosen,
    };
    kinds.map(tab).into()
}

fn stages(seen: &Seen) -> Vec<StageShown> {
    // other routes have no access token of the API, no idempotency key and no preconditions
    let of_resources = [Stage::Authorize, Stage::Idempotency, Stage::Preconditions];
    let is_resource = seen.path().starts_with("/v1/");
    let decided = |(stage, duration): (Stage, Option<Duration>)| {
        let (class, pill, word) = match () {
            () if !is_resource && of_resources.contains(&stage) => ("not", "off", "Not used"),
            () if stage < seen.ended_by => ("passed", "good", "Passed"),
            () if stage > seen.ended_by => ("not", "off", "Not reached"),
            () if seen.is_replay => ("passed", "wait", "Replayed"),
            () if seen.status.is_client_error() || seen.status.is_server_error() => {
                ("ended", "bad", "Ended here")
            }
            () => ("passed", "good", "Answered"),
        };
        StageShown {
            name: stage.name(),
            class,
            pill,
            word,
            says: stage.question(),
            took: duration.map_or_else(|| "–".to_owned(), briefly),
        }
    };
    STAGES.into_iter().zip(seen.durations).map(decided).collect()
}

impl Shown {
    fn of(half: &Half) -> Self {
        let pretty = serde_json::from_str::<serde_json::Value>(&half.content).ok();
        Self {
            fields: half.fields.clone(),
            content: pretty.map_or_else(|| half.content.clone(), |value| format!("{value:#}")),
        }
    }
}

impl Row {
    fn of(seen: &Seen) -> Self {
        Self {
            id: seen.id.clone(),
            method: seen.method.to_string(),
            target: seen.target.clone(),
            status: seen.status.as_u16(),
            class: seen.status.as_u16() / 100,
            ended_by: seen.ended_by.name(),
            is_replay: seen.is_replay,
            took: took(seen.took),
            at: clock(seen.at),
        }
    }
}
