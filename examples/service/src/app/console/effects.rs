//! Resources that a kept request changed, with their pages.

use http::header::LOCATION;
use http::{Method, StatusCode};

use super::super::effects::{Effect, Kind};
use super::super::traffic::Seen;
use super::super::webhook_deliveries::delivery_id;
use crate::domain::{ChargeId, CustomerId, RefundId};

/// A resource on the page of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) kind: &'static str,
    pub(super) id: String,
    /// Page of the console; `None` for a deleted resource.
    pub(super) path: Option<String>,
}

impl Changed {
    fn of(effect: &Effect) -> Self {
        let id = &effect.id;
        let (kind, path) = match effect.kind {
            Kind::Charge => ("Charge", format!("/console/charges/{id}")),
            Kind::Refund => ("Refund", format!("/console/refunds?about={id}")),
            Kind::Customer => ("Customer", format!("/console/charges?customer={id}")),
            Kind::Endpoint => ("Endpoint", format!("/console/endpoints/{id}")),
            Kind::Delivery => ("Delivery", format!("/console/deliveries/{id}")),
        };
        Self {
            kind,
            id: id.clone(),
            path: (!effect.is_deleted).then_some(path),
        }
    }
}

/// Resources that the request changed. For a replayed response those that the first request
/// changed: the handler of the replay did not run.
pub(super) fn changed(seen: &Seen) -> Vec<Changed> {
    let replayed = match seen.is_replay && seen.status.is_success() {
        true => of_replay(seen),
        false => Vec::new(),
    };
    seen.effects.iter().chain(&replayed).map(Changed::of).collect()
}

/// Returns `true` if the request may have changed other resources too: after a stream, and after a
/// failure of the server that may have followed the commit.
pub(super) fn has_unknown_effects(seen: &Seen) -> bool {
    let has_failed = seen.status.is_server_error() && seen.status != StatusCode::SERVICE_UNAVAILABLE;
    !seen.method.is_safe() && (seen.is_stream || has_failed)
}

/// The resource that the `Location` of the response names, or else the path of the request.
fn of_replay(seen: &Seen) -> Vec<Effect> {
    let location = seen
        .answer
        .fields
        .iter()
        .find(|(name, _)| name.as_str() == LOCATION);
    let path = location.map_or(seen.path(), |(_, location)| location.as_str());
    let named = path.rsplit('/').find_map(resource);
    let named = named.map(|(kind, id)| match seen.method {
        Method::DELETE => Effect::deleted(kind, id),
        _ => Effect::changed(kind, id),
    });
    named.into_iter().collect()
}

/// The resource with this segment of a path as its id.
fn resource(id: &str) -> Option<(Kind, &str)> {
    let is_endpoint = || id.strip_prefix("ep_").is_some_and(|id| !id.is_empty());
    let kind = match () {
        () if id.parse::<ChargeId>().is_ok() => Kind::Charge,
        () if id.parse::<RefundId>().is_ok() => Kind::Refund,
        () if id.parse::<CustomerId>().is_ok() => Kind::Customer,
        () if id.starts_with("evt_") && delivery_id(id).is_some() => Kind::Delivery,
        () if is_endpoint() => Kind::Endpoint,
        () => return None,
    };
    Some((kind, id))
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

    fn seen(method: &str, path: &str, answer: &Response<()>, content: Option<&Bytes>) -> Seen {
        let request = Request::builder().method(method).uri(path);
        let mut request = request.body(Bytes::new()).unwrap();
        let asked = Asked::of(&mut request, SystemTime::UNIX_EPOCH).unwrap();
        asked.answered(answer, content, SystemTime::UNIX_EPOCH)
    }

    fn replay(method: &str, path: &str, status: u16, location: &str) -> Vec<(&'static str, Option<String>)> {
        let mut answer = Response::builder()
            .status(status)
            .header("idempotency-replayed", "true");
        if !location.is_empty() {
            answer = answer.header("location", location);
        }
        let content = Bytes::from_static(b"{}");
        let seen = seen(method, path, &answer.body(()).unwrap(), Some(&content));
        let changed = changed(&seen).into_iter();
        changed.map(|changed| (changed.kind, changed.path)).collect()
    }

    /// X9: a replayed response leads to the resource of the first request, by `Location` or path.
    #[test]
    fn replay_leads_to_the_resource_of_the_first_request() {
        let refunds = format!("/v1/charges/{CHARGE}/refunds");
        let made = format!("{refunds}/{REFUND}");
        let charge = format!("/v1/charges/{CHARGE}");
        let page = Some(format!("/console/charges/{CHARGE}"));
        assert_eq!(
            replay("POST", "/v1/charges", 201, &charge),
            [("Charge", page.clone())]
        );
        assert_eq!(replay("PUT", &charge, 200, ""), [("Charge", page)]);
        let page = Some(format!("/console/refunds?about={REFUND}"));
        assert_eq!(replay("POST", &refunds, 202, &made), [("Refund", page)]);
        let delivery = "/v1/webhook-deliveries/evt_1.ep_2/replays";
        let page = Some("/console/deliveries/evt_1.ep_2".to_owned());
        assert_eq!(replay("POST", delivery, 202, ""), [("Delivery", page)]);
        assert_eq!(
            replay("DELETE", "/v1/webhook-endpoints/ep_2", 204, ""),
            [("Endpoint", None)]
        );
        assert!(replay("POST", &refunds, 422, "").is_empty());
    }

    /// X9: the effects of a stream and of a failed change are not known; those of others are.
    #[test]
    fn effects_of_streams_and_failures_are_unknown() {
        let content = Bytes::from_static(b"{}");
        for (method, status, content, expected) in [
            ("POST", 200, None, true),
            ("GET", 200, None, false),
            ("POST", 500, Some(&content), true),
            ("POST", 503, Some(&content), false),
            ("POST", 201, Some(&content), false),
            ("POST", 422, Some(&content), false),
        ] {
            let answer = Response::builder().status(status).body(()).unwrap();
            let seen = seen(method, "/graphql", &answer, content);
            assert_eq!(has_unknown_effects(&seen), expected, "{method} {status}");
            assert!(changed(&seen).is_empty());
        }
    }
}
