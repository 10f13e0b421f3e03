//! `/problems`: what each problem type means, an example, its cause and its mend.

use askama::Template;
use http::StatusCode;
use http_conventions::errors::{ErrorStatus, Problem, ProblemType};
use serde_json::Value;

use super::super::page::{Capability, rendered};
use super::super::{App, Handled};
use super::Frame;

#[derive(Template)]
#[template(path = "console/problems.html")]
struct ProblemList {
    frame: Frame,
    kinds: Vec<ProblemType>,
}

#[derive(Template)]
#[template(path = "console/problem.html")]
struct ProblemPage<'a> {
    frame: Frame,
    slug: &'a str,
    title: &'a str,
    status: u16,
    reason: &'static str,
    description: &'a str,
    help: Help,
    example: String,
}

/// Help with a problem.
#[derive(Clone, Copy)]
struct Help {
    cause: &'static str,
    mend: &'static str,
    retry: &'static str,
}

impl App {
    pub(in super::super) fn show_problem_types(&self) -> Handled {
        let page = ProblemList {
            frame: Frame::public("problems", self),
            kinds: self.conventions.problem_types(),
        };
        rendered(StatusCode::OK, &page, &Capability::Read)
    }

    pub(in super::super) fn show_problem_type(&self, slug: &str) -> Handled {
        let kinds = self.conventions.problem_types();
        let kind = kinds.iter().find(|kind| kind.slug() == slug);
        let kind = kind.ok_or_else(|| Problem::new(ErrorStatus::NOT_FOUND))?;
        let status = kind.status().status();
        let example = kind.problem(self.conventions.problems()).to_bytes();
        let example: Value = serde_json::from_slice(&example).unwrap_or_default();
        let page = ProblemPage {
            frame: Frame::public("problems", self),
            slug: kind.slug(),
            title: kind.title(),
            status: status.as_u16(),
            reason: status.canonical_reason().unwrap_or_default(),
            description: kind.description(),
            help: help(kind.slug(), status),
            example: format!("{example:#}"),
        };
        rendered(StatusCode::OK, &page, &Capability::Read)
    }
}

const AS_A_NEW_REQUEST: &str = "only as a new request";
const AFTER_A_CHANGE: &str = "not unchanged";

fn help(slug: &str, status: StatusCode) -> Help {
    match slug {
        "idempotency-key-reused" => Help {
            cause: "An idempotency key stands for one request. The service keeps a hash of the request and the answer that it got. The same key with other content cannot mean either, so it is refused. Usually the key is made from something that stays the same, such as an order, or the body carries a time that differs in each retry.",
            mend: "For a retry, send exactly the bytes that you sent first. For a new operation, make a new random key before the first attempt.",
            retry: AS_A_NEW_REQUEST,
        },
        "idempotency-in-flight" => Help {
            cause: "The first request with this key is still being worked on. The answer to both will be the same.",
            mend: "Wait for the time in Retry-After, then send the same request with the same key again.",
            retry: "the same request, after the given time",
        },
        "idempotency-outcome-unknown" | "idempotency-result-not-replayable" => Help {
            cause: "The operation ran, or may have run, but there is no answer to give again: it was lost, is too large, or showed a secret once.",
            mend: "Read the resource to see what happened. Use a new key only if nothing did.",
            retry: AS_A_NEW_REQUEST,
        },
        "precondition-failed" | "precondition-required" => Help {
            cause: "The entity tag in If-Match is missing, or is not that of the stored resource, which has changed since.",
            mend: "Read the resource again, apply your change to what you read, and send it with the new entity tag.",
            retry: AFTER_A_CHANGE,
        },
        "invalid-content" => Help {
            cause: "The body is JSON of the expected form, but a value is out of its range or names something that does not exist.",
            mend: "Each entry of errors names the member by a JSON pointer and says what it must be. Correct all of them and send the request again.",
            retry: AFTER_A_CHANGE,
        },
        "refund-exceeds-charge" => Help {
            cause: "The refunds of a charge together may not exceed its amount. Another refund may have been booked since you read the charge.",
            mend: "Refund at most what refundable states, in the smallest unit of the currency. Without an amount, the whole rest is refunded.",
            retry: AS_A_NEW_REQUEST,
        },
        "webhook-address-refused" => Help {
            cause: "A webhook to a private address would let its owner reach the network of this service. The address is checked when the endpoint is registered and again before each delivery.",
            mend: "Use a public https address. A service that listens on loopback also delivers to loopback.",
            retry: AFTER_A_CHANGE,
        },
        "delivery-not-replayable" => Help {
            cause: "A delivery that waits will be sent anyway, and one that was acknowledged has arrived.",
            mend: "Wait for the next attempt. To see deliveries that can be replayed, filter for those that failed for good and for dead letters.",
            retry: "once the delivery has failed",
        },
        "invalid-cursor" | "expired-cursor" | "cursor-mismatch" => Help {
            cause: "A cursor continues exactly the list that it came from: same path, filters, order and caller, within its lifetime.",
            mend: "Start again at the first page, and follow its links.",
            retry: AS_A_NEW_REQUEST,
        },
        _ if status.is_server_error() => Help {
            cause: "The service could not do its work. Nothing in the request is wrong.",
            mend: "Send the same request again after a moment, with the same idempotency key.",
            retry: "after a moment",
        },
        _ => Help {
            cause: "The request does not have the form that this operation needs. Nothing was changed.",
            mend: "Change the request as the description above says, and send it again.",
            retry: AFTER_A_CHANGE,
        },
    }
}
