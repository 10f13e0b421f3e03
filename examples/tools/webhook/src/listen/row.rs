//! The printed line of one request.

use std::time::SystemTime;

use crate::show::{self, Colour};

/// Width of the narrowest common terminal.
const COLUMNS: usize = 80;
/// Length limit of signed values.
const WHOLE: usize = 256;

pub(super) struct Row<'a> {
    pub(super) verdict: &'static str,
    pub(super) colour: Colour,
    pub(super) status: u16,
    pub(super) event_type: &'a [u8],
    pub(super) id: &'a [u8],
    pub(super) size: usize,
    pub(super) why: &'a str,
}

impl Row<'_> {
    /// Formats one full line for a pipe. On a terminal: the time without the date, type and id cut
    /// to the width, and the reason on the next line.
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
