//! Lines and columns of positions.

use crate::response::Location;

/// Line starts of a text. A line ends with LF, CR or CRLF.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Byte offsets, in order.
    starts: Vec<usize>,
    /// Byte offset behind each character that is not ASCII, and the number of bytes up to there
    /// that are not UTF-16 code units of their own.
    wide: Vec<(usize, usize)>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let (mut starts, mut wide, mut extra) = (vec![0], Vec::new(), 0);
        let mut rest = text.char_indices().peekable();
        while let Some((at, character)) = rest.next() {
            match character {
                '\n' => starts.push(at + 1),
                '\r' if rest.peek().is_none_or(|(_, next)| *next != '\n') => starts.push(at + 1),
                character if !character.is_ascii() => {
                    extra += character.len_utf8() - character.len_utf16();
                    wide.push((at + character.len_utf8(), extra));
                }
                _ => {}
            }
        }
        Self { starts, wide }
    }

    /// 1-based line and column of a byte offset. The column counts UTF-16 code units, as editors
    /// and graphql-js do.
    pub(crate) fn location(&self, at: u32) -> Location {
        let at = at as usize;
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let units = (at - self.extra(at)) - (start - self.extra(start));
        Location::new(line, units + 1)
    }

    fn extra(&self, at: usize) -> usize {
        let before = self.wide.partition_point(|(end, _)| *end <= at);
        let last = before.checked_sub(1).and_then(|last| self.wide.get(last));
        last.map_or(0, |(_, extra)| *extra)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_code_units() {
        let text = "a\r\nbé𝄞c\rd\n\n";
        let lines = Lines::new(text);
        let places = text.char_indices().map(|(at, character)| {
            let place = lines.location(u32::try_from(at).unwrap());
            (character, place.line, place.column)
        });
        assert_eq!(
            places.collect::<Vec<_>>(),
            [
                ('a', 1, 1),
                ('\r', 1, 2),
                ('\n', 1, 3),
                ('b', 2, 1),
                ('é', 2, 2),
                ('𝄞', 2, 3),
                ('c', 2, 5),
                ('\r', 2, 6),
                ('d', 3, 1),
                ('\n', 3, 2),
                ('\n', 4, 1),
            ]
        );
    }
}
