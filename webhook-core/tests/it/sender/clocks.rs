//! A sender whose clock is wrong, and receivers that verify timestamps (W30).

use std::time::{Duration, SystemTime};

use http::{HeaderValue, StatusCode, header};
use webhook_core::sender::{Disposition, FailureReason};

use super::fixture::{ExchangeResult, Fixture, answer, start};

const HOSTS: [&str; 3] = ["ep_1", "ep_2", "ep_3"];
const SKEW: Duration = Duration::from_secs(600);

/// A refusal by a receiver with this clock.
fn refused(clock: Option<SystemTime>) -> ExchangeResult {
    let mut response = answer(StatusCode::BAD_REQUEST)?;
    if let Some(clock) = clock {
        let date = httpdate::fmt_http_date(clock);
        let date = HeaderValue::from_str(&date).unwrap();
        response.headers_mut().insert(header::DATE, date);
    }
    Ok(response)
}

/// W30: the first refusals after a start are held too, before three hosts confirm the skew.
#[tokio::test]
async fn skew_hold_loses_no_first_refusal() {
    let date = Some(start() - SKEW);
    let mut fixture = Fixture::scripted([refused(date), refused(date), refused(date), refused(None)])
        .with_endpoints(&HOSTS)
        .await;
    fixture.dispatcher = fixture.dispatcher.clone().with_skew_hold();
    fixture.send("evt_1").await;
    let handled = fixture.run().await.handled;
    let skews: Vec<_> = handled
        .iter()
        .map(|handled| handled.skew.map(|skew| skew.seconds()))
        .collect();
    assert_eq!(skews, [None, None, Some(600)]);
    let due_at = start() + Duration::from_secs(60);
    for handled in handled {
        assert_eq!(handled.disposition, Disposition::Held { due_at });
    }
}

/// W30: a refusal without `Date` is explained by a confirmed skew.
#[tokio::test]
async fn confirmed_skew_explains_refusal_without_date() {
    let date = Some(start() - SKEW);
    let fixture = Fixture::scripted([refused(date), refused(date), refused(date), refused(None)])
        .with_endpoints(&["ep_1", "ep_2", "ep_3", "ep_4"])
        .await;
    fixture.send("evt_1").await;
    let handled = fixture.run().await.handled;
    let last = handled.last().unwrap();
    assert_eq!(last.skew.map(|skew| skew.seconds()), Some(600));
    // the default is the specified permanent failure
    assert_eq!(last.disposition, Disposition::Failed(FailureReason::Rejected));
}

/// W30: beside a receiver that shows the right time, a receiver with a wrong clock holds nothing.
#[tokio::test]
async fn contradicted_skew_holds_nothing() {
    let mut fixture = Fixture::scripted([refused(Some(start())), refused(Some(start() - SKEW))])
        .with_endpoints(&["ep_1", "ep_2"])
        .await;
    fixture.dispatcher = fixture.dispatcher.clone().with_skew_hold();
    fixture.send("evt_1").await;
    for handled in fixture.run().await.handled {
        assert_eq!(handled.disposition, Disposition::Failed(FailureReason::Rejected));
    }
}
