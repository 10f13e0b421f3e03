//! Health of an endpoint: its attempts of the last 24 hours.

use std::time::{Duration, SystemTime};

use http_conventions::errors::Problem;
use webhook_core::sender::EndpointId;

use super::super::App;
use super::chart::{Columns, percent};
use super::text::clock;

const HOUR: Duration = Duration::from_secs(3_600);
/// Hours of the chart; the last one is not over.
const HOURS: u32 = 24;

/// Attempts of an endpoint by hour, as a chart and as a table.
pub(super) struct Health {
    pub(super) columns: Columns,
    /// The finding of the chart in words.
    pub(super) finding: String,
    /// Times under the chart.
    pub(super) times: Vec<String>,
    /// Hours with attempts: start, acknowledged and failed.
    pub(super) rows: Vec<(String, u64, u64)>,
    pub(super) acknowledged: String,
    pub(super) of: String,
}

impl App {
    /// Reads the health of an endpoint. Returns `None` without an attempt.
    pub(super) async fn health(&self, endpoint: &EndpointId) -> Result<Option<Health>, Problem> {
        let from = first_hour(self.clock.now());
        let hours = self.desk.attempts_by_hour(endpoint.clone(), from).await;
        let hours = hours.map_err(|error| self.refused(error))?;
        let mut values = [[0; 2]; HOURS as usize];
        for hour in hours {
            let place = usize::try_from(hour.hour)
                .ok()
                .and_then(|hour| values.get_mut(hour));
            if let Some(place) = place {
                *place = [hour.acknowledged, hour.failed];
            }
        }
        Ok(Health::of(&values, from))
    }
}

/// Start of the first hour of the chart, whose last hour is the one of `now`.
fn first_hour(now: SystemTime) -> SystemTime {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let hours = (since.as_secs() / 3_600).saturating_sub(u64::from(HOURS) - 1);
    SystemTime::UNIX_EPOCH + Duration::from_secs(hours * 3_600)
}

impl Health {
    fn of(values: &[[u64; 2]], from: SystemTime) -> Option<Self> {
        let acknowledged: u64 = values.iter().map(|[acknowledged, _]| acknowledged).sum();
        let failed: u64 = values.iter().map(|[_, failed]| failed).sum();
        let all = acknowledged + failed;
        let start = |hour: u32| clock(from + HOUR * hour).get(..5).unwrap_or_default().to_owned();
        let rows = (0..).zip(values).filter(|(_, parts)| **parts != [0, 0]);
        let worst = (0..)
            .zip(values)
            .max_by_key(|(hour, [_, failed])| (*failed, *hour));
        let worst = match worst {
            Some((hour, [_, failed])) if *failed > 0 => {
                format!(" Most failed in the hour from {}: {failed}.", start(hour))
            }
            _ => String::new(),
        };
        let mut times: Vec<String> = (0..HOURS).step_by(6).map(start).collect();
        times.push("now".to_owned());
        Some(Self {
            columns: Columns::of(values, ["c-ok", "c-5xx"]),
            finding: format!(
                "Attempts in each of the last 24 hours: {acknowledged} acknowledged, {failed} failed.{worst}"
            ),
            times,
            rows: rows
                .map(|(hour, [acknowledged, failed])| (start(hour), *acknowledged, *failed))
                .collect(),
            acknowledged: percent(acknowledged, all)?,
            of: format!("{acknowledged} of {all} attempts"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_names_the_worst_hour() {
        let from = first_hour(SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_356_131));
        let mut values = [[0; 2]; 24];
        assert!(Health::of(&values, from).is_none());
        values[0] = [3, 0];
        values[23] = [5, 2];
        let health = Health::of(&values, from).unwrap();
        assert!(
            health.finding.contains("8 acknowledged, 2 failed"),
            "{}",
            health.finding
        );
        assert!(health.finding.contains("from 14:00: 2."), "{}", health.finding);
        assert_eq!(health.acknowledged, "80.0 %");
        assert_eq!(
            health.rows,
            [("15:00".to_owned(), 3, 0), ("14:00".to_owned(), 5, 2)]
        );
        assert_eq!(health.times, ["15:00", "21:00", "03:00", "09:00", "now"]);
    }
}
