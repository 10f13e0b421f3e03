//! The line that tells of one request.

use std::time::SystemTime;

use crate::show::{self, Colour};

/// No terminal is narrower, as a rule.
const COLUMNS: usize = 80;
/// Nothing that was signed is longer.
const WHOLE: usize = 256;

pub(super) struct Row<'a> {
    pub(super) verdict: &'static str,
    pub(super) colour: Colour,
    pub(super) status: u16,
    pub(super) event_type: &'a [u8],
    pub(super) id: &'a [u8],
    pub(super) size: usize,
    pub(super) why: &'static str,
}

impl Row<'_> {
    /// Whole on one line for a pipe. A person has a clock and a narrow window: the time without the date, no more of type and
    /// id than fits, and the reason below.
    pub(super) fn text(&self, now: SystemTime, is_watched: bool) -> String {
        let (time, between) = if is_watched {
            (show::time_of_day(now), "\n  ")
        } else {
            (show::time(now), "  ")
        };
        let what = if is_watched { self.cut() } else { self.whole() };
        let why = if self.why.is_empty() { "" } else { between };
        format!(
            "{}  {}  {}  {what}{why}{}",
            show::painted(Colour::Dim, &time),
            show::painted(self.colour, &format!("{:<9}", self.verdict)),
            self.status,
            self.why,
        )
    }

    fn whole(&self) -> String {
        let (event_type, id) = (
            show::foreign(self.event_type, WHOLE),
            show::foreign(self.id, WHOLE),
        );
        format!("{event_type:<20}  {id}  {} B", self.size)
    }

    fn cut(&self) -> String {
        let (event_type, size) = (show::foreign(self.event_type, 24), format!("{} B", self.size));
        let before = format!("09:30:00  duplicate  204  {event_type:<20}  ")
            .chars()
            .count();
        let id = show::foreign(self.id, COLUMNS.saturating_sub(before + 2 + size.len()));
        format!("{event_type:<20}  {id}  {size}")
    }
}
