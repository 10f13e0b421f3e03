//! Charts as paths of SVG, coloured by the style sheet.

use std::fmt::Write as _;

/// Area and line of a sparkline in a box of 100 by 32.
pub(super) struct Sparkline {
    pub(super) area: String,
    pub(super) line: String,
}

impl Sparkline {
    /// A line through the values. Returns `None` for fewer than two values.
    pub(super) fn of(values: &[u64]) -> Option<Self> {
        let highest = values.iter().copied().max().unwrap_or(0).max(1);
        let steps = u64::try_from(values.len())
            .ok()?
            .checked_sub(1)
            .filter(|steps| *steps > 0)?;
        let mut line = String::new();
        for (index, value) in (0..).zip(values) {
            let (x, y) = (index * 100 / steps, 30 - value * 26 / highest);
            let command = if index == 0 { 'M' } else { 'L' };
            // writing to a string does not fail
            let _written = write!(line, "{command}{x} {y}");
        }
        Some(Self {
            area: format!("{line}V32H0z"),
            line,
        })
    }
}

/// Columns of two stacked parts in a box of ten for each column by 100, with a scale.
pub(super) struct Columns {
    /// Class and path of each part that is not 0.
    pub(super) parts: Vec<(&'static str, String)>,
    /// Width of the box.
    pub(super) width: usize,
    /// Labels of the scale, from the top.
    pub(super) scale: [u64; 3],
}

impl Columns {
    /// Columns of the values, whose first part stands below the second, with their classes.
    pub(super) fn of(values: &[[u64; 2]], classes: [&'static str; 2]) -> Self {
        let highest = values.iter().map(|parts| parts.iter().sum()).max().unwrap_or(0);
        let top = round_above(highest);
        let height = |value: u64| value.saturating_mul(100) / top;
        let mut parts = Vec::new();
        for (left, [lower, upper]) in (1..).step_by(10).zip(values) {
            let floor = 100 - height(*lower);
            let ceiling = 100 - height(lower + upper);
            if *lower > 0 {
                parts.push((classes[0], format!("M{left} 100V{floor}h8V100z")));
            }
            if *upper > 0 {
                parts.push((classes[1], format!("M{left} {floor}V{ceiling}h8V{floor}z")));
            }
        }
        Self {
            parts,
            width: values.len() * 10,
            scale: [top, top / 2, 0],
        }
    }
}

/// The least of 2, 4, 10, 20, 40, 100 and so on that is not below `value`.
fn round_above(value: u64) -> u64 {
    let mut ten = 1_u64;
    loop {
        for top in [2, 4, 10].map(|step| ten.saturating_mul(step)) {
            if top >= value {
                return top;
            }
        }
        ten = ten.saturating_mul(10);
    }
}

/// Width of `part` in a bar of 100, at least 1 for a part that is not 0.
pub(super) fn share(part: u64, whole: u64) -> u64 {
    match (part, whole) {
        (0, _) | (_, 0) => 0,
        (part, whole) => (part * 100 / whole).clamp(1, 100),
    }
}

/// A part as a percentage with one decimal place: `96.7 %`. `None` of nothing.
pub(super) fn percent(part: u64, whole: u64) -> Option<String> {
    let thousandths = (part * 1_000 + whole / 2).checked_div(whole)?;
    Some(format!("{}.{} %", thousandths / 10, thousandths % 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparkline_stays_in_its_box() {
        let chart = Sparkline::of(&[0, 5, 10]).unwrap();
        assert_eq!(chart.line, "M0 30L50 17L100 4");
        assert_eq!(chart.area, "M0 30L50 17L100 4V32H0z");
        assert!(Sparkline::of(&[]).is_none() && Sparkline::of(&[1]).is_none());
        assert_eq!(Sparkline::of(&[0, 0]).unwrap().line, "M0 30L100 30");
    }

    #[test]
    fn columns_are_stacked_on_a_round_scale() {
        let columns = Columns::of(&[[0, 0], [6, 2], [0, 10]], ["c-good", "c-bad"]);
        assert_eq!((columns.width, columns.scale), (30, [10, 5, 0]));
        let expected = [
            ("c-good", "M11 100V40h8V100z"),
            ("c-bad", "M11 40V20h8V40z"),
            ("c-bad", "M21 100V0h8V100z"),
        ];
        let parts: Vec<_> = columns
            .parts
            .iter()
            .map(|(class, path)| (*class, path.as_str()))
            .collect();
        assert_eq!(parts, expected);
        for (value, top) in [
            (0, 2),
            (2, 2),
            (3, 4),
            (5, 10),
            (11, 20),
            (41, 100),
            (u64::MAX, u64::MAX),
        ] {
            assert_eq!(round_above(value), top, "{value}");
        }
    }

    #[test]
    fn shares_are_seen_and_percentages_rounded() {
        for (part, whole, expected) in [(0, 9, 0), (1, 1_000, 1), (205, 212, 96), (9, 9, 100), (1, 0, 0)] {
            assert_eq!(share(part, whole), expected);
        }
        assert_eq!(percent(205, 212).as_deref(), Some("96.7 %"));
        assert_eq!(percent(0, 0), None);
    }
}
