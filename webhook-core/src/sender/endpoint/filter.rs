//! Filters of event types.

use std::{collections::BTreeSet, fmt, iter, str::FromStr};

use crate::event::EventType;

/// Pattern of event types: one type, such as `charge.refunded`, or all types below a prefix, such
/// as `charge.*`.
///
/// `charge.*` accepts `charge.refunded` and `charge.dispute.created`, but not `charge`. An asterisk
/// is allowed as the last word only. [`EventFilter::All`] accepts every type.
///
/// # Examples
///
/// ```
/// use webhook_core::sender::EventPattern;
///
/// let pattern: EventPattern = "charge.*".parse()?;
/// assert!(pattern.matches(&"charge.dispute.created".parse()?));
/// assert!(!pattern.matches(&"charge".parse()?));
/// assert!(!pattern.matches(&"chargeback.created".parse()?));
/// assert!("*.created".parse::<EventPattern>().is_err());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EventPattern(Box<str>);

const BELOW: &str = ".*";

impl EventPattern {
    /// The pattern as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if the pattern accepts this type.
    #[must_use]
    pub fn matches(&self, event_type: &EventType) -> bool {
        let Some(prefix) = self.0.strip_suffix(BELOW) else {
            return *self.0 == *event_type.as_str();
        };
        let rest = event_type.as_str().strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with('.'))
    }

    /// Texts of all patterns that accept this type: the type itself, then one pattern for each
    /// shorter prefix. A store can index the patterns of its endpoints and look these up.
    ///
    /// ```
    /// use webhook_core::sender::EventPattern;
    ///
    /// let created = "charge.dispute.created".parse()?;
    /// let patterns: Vec<String> = EventPattern::accepting(&created).collect();
    /// assert_eq!(patterns, ["charge.dispute.created", "charge.dispute.*", "charge.*"]);
    /// # Ok::<_, webhook_core::event::InvalidEventType>(())
    /// ```
    pub fn accepting(event_type: &EventType) -> impl Iterator<Item = String> {
        let text = event_type.as_str();
        let prefixes = iter::successors(text.rsplit_once('.'), |(prefix, _)| prefix.rsplit_once('.'));
        let below = prefixes.map(|(prefix, _)| format!("{prefix}{BELOW}"));
        iter::once(text.to_owned()).chain(below)
    }
}

impl From<EventType> for EventPattern {
    fn from(event_type: EventType) -> Self {
        Self(event_type.as_str().into())
    }
}

impl FromStr for EventPattern {
    type Err = InvalidEventPattern;

    fn from_str(text: &str) -> Result<Self, InvalidEventPattern> {
        let prefix = text.strip_suffix(BELOW).unwrap_or(text);
        match prefix.parse::<EventType>() {
            Ok(_) => Ok(Self(text.into())),
            Err(_) => Err(InvalidEventPattern(())),
        }
    }
}

impl TryFrom<String> for EventPattern {
    type Error = InvalidEventPattern;

    fn try_from(text: String) -> Result<Self, InvalidEventPattern> {
        text.parse()
    }
}

impl fmt::Display for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error: not a pattern of event types.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an event pattern is an event type, or an event type followed by `.*`")]
pub struct InvalidEventPattern(());

/// Filter of event types.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EventFilter {
    /// All types, also those that are introduced later.
    All,
    /// The types that one of these patterns accepts.
    Only(BTreeSet<EventPattern>),
}

impl EventFilter {
    /// Creates a filter for the types that one of these patterns accepts.
    pub fn only(patterns: impl IntoIterator<Item = EventPattern>) -> Self {
        Self::Only(patterns.into_iter().collect())
    }

    /// Returns `true` if the filter accepts this type.
    #[must_use]
    pub fn matches(&self, event_type: &EventType) -> bool {
        match self {
            Self::All => true,
            Self::Only(patterns) => patterns.iter().any(|pattern| pattern.matches(event_type)),
        }
    }
}
