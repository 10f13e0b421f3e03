//! `/`: the day in numbers.
//!
//! Every number is counted from what the desk keeps; there is no comparison with the day before,
//! since its figures are not kept.

use std::collections::BTreeMap;
use std::time::Duration;

use askama::Template;
use http::StatusCode;
use http_conventions::errors::Problem;
use webhook_core::sender::DeliveryState;

use super::super::{App, Handled};
use super::chart::{Sparkline, percent, share};
use super::state::Pill;
use super::text::{lasting, midnight, moment, money};
use super::{Frame, Visitor, page};
use crate::desk::HourOfCharges;

#[derive(Template)]
#[template(path = "console/overview.html")]
struct Overview {
    frame: Frame,
    now: String,
    charged: Charged,
    deliveries: Deliveries,
    traffic: Summary,
}

/// Charges of the day.
struct Charged {
    /// Sum in the currency with the most charges.
    sum: String,
    than: String,
    /// Number of charges in each hour.
    chart: Option<Sparkline>,
}

struct Deliveries {
    acknowledged: Option<String>,
    of: String,
    oldest: String,
    waiting: u64,
    failed: u64,
    bars: Vec<Bar>,
}

struct Bar {
    name: String,
    /// Page behind the bar.
    path: String,
    class: &'static str,
    width: u64,
    count: u64,
}

/// The kept requests.
struct Summary {
    refused: Option<String>,
    than: String,
    /// Problem types of the refused requests.
    why: Vec<Bar>,
}

impl App {
    pub(super) async fn show_overview(&self, visitor: &Visitor) -> Handled {
        let now = self.clock.now();
        let hours = self.desk.charges_by_hour(midnight(now)).await;
        let hours = hours.map_err(|error| self.refused(error))?;
        let passed = now.duration_since(midnight(now)).unwrap_or_default().as_secs() / 3_600 + 1;
        let overview = Overview {
            frame: self.frame("overview", visitor).await?,
            now: moment(now),
            charged: charged(&hours, passed),
            deliveries: self.deliveries().await?,
            traffic: self.summary(),
        };
        page(StatusCode::OK, &overview)
    }

    async fn deliveries(&self) -> Result<Deliveries, Problem> {
        let counts = self.desk.deliveries_by_state().await;
        let counts: BTreeMap<String, u64> =
            counts.map_err(|error| self.refused(error))?.into_iter().collect();
        let oldest = self.desk.oldest_unfinished().await;
        let oldest = oldest.map_err(|error| self.refused(error))?;
        let count = |state: DeliveryState| counts.get(state.as_str()).copied().unwrap_or(0);
        let all: u64 = counts.values().sum();
        let states = [
            (DeliveryState::Acked, "c-good"),
            (DeliveryState::Ready, "c-wait"),
            (DeliveryState::Leased, "c-wait"),
            (DeliveryState::RetryScheduled, "c-4xx"),
            (DeliveryState::PermanentFailure, "c-5xx"),
            (DeliveryState::DeadLetter, "c-5xx"),
        ];
        let bars = states.map(|(state, class)| Bar {
            name: Pill::of_delivery(state).word.to_owned(),
            path: format!("/console/deliveries?state={}", state.as_str()),
            class,
            width: share(count(state), all),
            count: count(state),
        });
        let waiting =
            count(DeliveryState::Ready) + count(DeliveryState::Leased) + count(DeliveryState::RetryScheduled);
        let age = |since| self.clock.now().duration_since(since).unwrap_or(Duration::ZERO);
        Ok(Deliveries {
            acknowledged: percent(count(DeliveryState::Acked), all),
            of: format!("{} of {all} kept", count(DeliveryState::Acked)),
            oldest: oldest.map_or_else(|| "None".to_owned(), |since| lasting(age(since))),
            waiting,
            failed: count(DeliveryState::PermanentFailure) + count(DeliveryState::DeadLetter),
            bars: bars.into(),
        })
    }

    fn summary(&self) -> Summary {
        let all = self.console_state.traffic.all();
        let of_class = |class: u16| all.iter().filter(move |seen| seen.status.as_u16() / 100 == class);
        let (refused, faults) = (of_class(4).count(), of_class(5).count());
        let mut kinds = BTreeMap::<String, u64>::new();
        for seen in of_class(4) {
            let name = seen.problem().unwrap_or_else(|| seen.status.to_string());
            *kinds.entry(name).or_default() += 1;
        }
        let mut why: Vec<(String, u64)> = kinds.into_iter().collect();
        why.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        why.truncate(5);
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let why = why.into_iter().map(|(name, number)| Bar {
            path: match name.starts_with(|first: char| first.is_ascii_digit()) {
                true => "/console/requests?status=4xx".to_owned(),
                false => format!("/problems/{name}"),
            },
            name,
            class: "c-4xx",
            width: share(number, count(refused)),
            count: number,
        });
        Summary {
            refused: percent(count(refused), count(all.len())),
            than: format!("{refused} of the last {}; {faults} answered 5xx", all.len()),
            why: why.collect(),
        }
    }
}

fn charged(hours: &[HourOfCharges], passed: u64) -> Charged {
    let mut sums = BTreeMap::<&str, (u64, u64)>::new();
    let mut counts = vec![0; usize::try_from(passed).unwrap_or(1)];
    for hour in hours {
        let (count, sum) = sums.entry(hour.currency.as_str()).or_default();
        *count += hour.count;
        *sum += hour.sum;
        let place = usize::try_from(hour.hour)
            .ok()
            .and_then(|index| counts.get_mut(index));
        if let Some(place) = place {
            *place += hour.count;
        }
    }
    let all: u64 = sums.values().map(|(count, _)| count).sum();
    let most = sums.iter().max_by_key(|(_, (count, _))| *count);
    let others = sums.len().saturating_sub(1);
    let charges = if all == 1 { "charge" } else { "charges" };
    let than = match (all, others) {
        (0, _) => "No charges since midnight".to_owned(),
        (_, 0) => format!("{all} {charges}"),
        (_, others) => format!("{all} {charges}; {others} more currencies"),
    };
    Charged {
        sum: most.map_or_else(
            || "Nothing".to_owned(),
            |(currency, (_, sum))| money(*sum, currency),
        ),
        than,
        chart: Sparkline::of(&counts).filter(|_| all > 0),
    }
}
