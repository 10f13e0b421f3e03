//! Close frames.

use std::borrow::Cow;

/// Code and reason of a close frame; see the [table](super).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Close {
    code: u16,
    reason: Cow<'static, str>,
}

impl Close {
    pub(super) const GOING_AWAY: Self = Self::new(1001, "Going away");
    pub(super) const TOO_LONG: Self = Self::new(1009, "The message is too long");
    pub(super) const SLOW: Self = Self::new(1013, "The peer does not accept frames");
    pub(super) const SILENT: Self = Self::new(1013, "The ping was not answered");
    pub(super) const UNAUTHORIZED: Self = Self::new(4401, "Unauthorized");
    pub(super) const FORBIDDEN: Self = Self::new(4403, "Forbidden");
    pub(super) const EXPIRED: Self = Self::new(4403, "The credentials have expired");
    pub(super) const NOT_ACCEPTABLE: Self = Self::new(4406, "Subprotocol not acceptable");
    pub(super) const INIT_TIMEOUT: Self = Self::new(4408, "Connection initialisation timeout");
    pub(super) const TOO_MANY_INITS: Self = Self::new(4429, "Too many initialisation requests");
    pub(super) const INTERNAL: Self = Self::new(4500, "Internal server error");

    /// Maximum length of the reason in a close frame's payload.
    const REASON: usize = 123;

    const fn new(code: u16, reason: &'static str) -> Self {
        Self {
            code,
            reason: Cow::Borrowed(reason),
        }
    }

    pub(super) fn invalid(what: &str) -> Self {
        Self {
            code: 4400,
            reason: shortened(format!("Invalid message: {what}")).into(),
        }
    }

    pub(super) fn subscriber_exists(id: &str) -> Self {
        Self {
            code: 4409,
            reason: shortened(format!("Subscriber for {id} already exists")).into(),
        }
    }

    /// Returns the close code.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.code
    }

    /// Returns the reason, at most 123 bytes.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// Truncates the reason. With a longer reason the frame is invalid, and the peer would see 1006.
fn shortened(mut reason: String) -> String {
    let mut end = reason.len().min(Close::REASON);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason.truncate(end);
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_fits_into_a_frame_and_ends_with_a_whole_character() {
        for character in ["x", "ß", "€", "🦀"] {
            let close = Close::subscriber_exists(&character.repeat(123));
            let length = close.reason().len();
            assert!((120..=123).contains(&length), "{length}: {}", close.reason());
        }
        assert_eq!(
            Close::subscriber_exists("1").reason(),
            "Subscriber for 1 already exists"
        );
    }
}
