//! The resources that a kept request created or changed, by the ids in its path and its answer.

use http::Method;
use serde_json::Value;

use super::super::traffic::Seen;
use super::super::webhook_deliveries::{delivery_id, wire_id};
use crate::domain::{ChargeId, CustomerId, RefundId};

/// A resource that a request created, changed or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) kind: &'static str,
    pub(super) id: String,
    /// Page of the console.
    pub(super) path: String,
}

/// Resources that the request changed, each once. A read and a refused request changed none.
pub(super) fn effects(seen: &Seen) -> Vec<Effect> {
    let is_change = !seen.method.is_safe() && seen.status.is_success();
    if !is_change || !(seen.path().starts_with("/v1/") || seen.path() == "/graphql") {
        return Vec::new();
    }
    let mut effects = Vec::new();
    let mut add = |text: &str| {
        let effect = effect(text).filter(|effect| !effects.contains(effect));
        effects.extend(effect);
    };
    seen.path().split('/').for_each(&mut add);
    let answer: Value = serde_json::from_str(&seen.answer.content).unwrap_or_default();
    visit(&answer, &mut add);
    // what is deleted has no page
    effects.retain(|_| seen.method != Method::DELETE);
    effects
}

/// Calls `add` with each string of the value.
fn visit(value: &Value, add: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => add(text),
        Value::Array(values) => values.iter().for_each(|value| visit(value, add)),
        Value::Object(members) => members.values().for_each(|value| visit(value, add)),
        _ => {}
    }
}

/// The resource with this id.
fn effect(text: &str) -> Option<Effect> {
    let found = |kind, path: String| {
        Some(Effect {
            kind,
            id: text.to_owned(),
            path,
        })
    };
    if text.parse::<ChargeId>().is_ok() {
        return found("Charge", format!("/console/charges/{text}"));
    }
    if text.parse::<RefundId>().is_ok() {
        return found("Refund", format!("/console/refunds?about={text}"));
    }
    if text.parse::<CustomerId>().is_ok() {
        return found("Customer", format!("/console/charges?customer={text}"));
    }
    if text.starts_with("evt_")
        && let Some(id) = delivery_id(text)
    {
        return found("Delivery", format!("/console/deliveries/{}", wire_id(&id)));
    }
    let endpoint = text.strip_prefix("ep_");
    if endpoint.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
        return found("Endpoint", format!("/console/endpoints/{text}"));
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use bytes::Bytes;
    use http::{Request, Response};

    use super::super::super::traffic::Asked;
    use super::*;

    const CHARGE: &str = "ch_07070707070707070707070707070707";
    const REFUND: &str = "re_08080808080808080808080808080808";

    fn check(method: &str, path: &str, status: u16, answer: &str, expected: &[(&str, &str)]) {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .body(Bytes::new())
            .unwrap();
        let asked = Asked::of(&mut request, SystemTime::UNIX_EPOCH).unwrap();
        let response = Response::builder()
            .status(status)
            .header("content-type", "application/json");
        let answer = Bytes::from(answer.to_owned());
        let seen = asked.answered(&response.body(()).unwrap(), Some(&answer), SystemTime::UNIX_EPOCH);
        let found = effects(&seen);
        let found: Vec<_> = found
            .iter()
            .map(|effect| (effect.kind, effect.path.as_str()))
            .collect();
        assert_eq!(found, expected, "{method} {path} {status}");
    }

    /// X9: a change names its resources once; reads, refusals and other routes name none.
    #[test]
    fn change_names_its_resources() {
        let charge = format!("/console/charges/{CHARGE}");
        let refund = format!("/console/refunds?about={REFUND}");
        let body = format!(r#"{{"id":"{CHARGE}","customer":null,"metadata":{{"note":"ch_7"}}}}"#);
        check("POST", "/v1/charges", 201, &body, &[("Charge", &charge)]);
        check("GET", "/v1/charges", 200, &body, &[]);
        check("POST", "/v1/charges", 422, &body, &[]);
        check("POST", "/token", 200, &body, &[]);
        let path = format!("/v1/charges/{CHARGE}/refunds");
        let body = format!(r#"{{"id":"{REFUND}","charge":"{CHARGE}"}}"#);
        check(
            "POST",
            &path,
            202,
            &body,
            &[("Charge", &charge), ("Refund", &refund)],
        );
        let graph = format!(r#"{{"data":{{"createCharge":{{"id":"{CHARGE}"}}}}}}"#);
        check("POST", "/graphql", 200, &graph, &[("Charge", &charge)]);
        let replay = "/v1/webhook-deliveries/evt_1.ep_2/replays";
        check(
            "POST",
            replay,
            202,
            "{}",
            &[("Delivery", "/console/deliveries/evt_1.ep_2")],
        );
        check(
            "PATCH",
            "/v1/webhook-endpoints/ep_2",
            200,
            "{}",
            &[("Endpoint", "/console/endpoints/ep_2")],
        );
        check("DELETE", "/v1/webhook-endpoints/ep_2", 204, "", &[]);
    }
}
