//! Choices that a host offers in content negotiation.

use std::str::FromStr;

/// A non-empty list of choices in order of preference. The first is the default and wins ties.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Offers<T> {
    first: T,
    all: Box<[T]>,
}

impl<T: Clone> Offers<T> {
    /// Creates a list from `first` and the other choices, in order of preference.
    #[must_use]
    pub fn new(first: T, others: impl IntoIterator<Item = T>) -> Self {
        let all = std::iter::once(first.clone()).chain(others).collect();
        Self { first, all }
    }

    /// Parses `first` and the other choices, in order of preference.
    ///
    /// ```
    /// use http_conventions::content::{MediaType, Offers};
    ///
    /// let offers = Offers::<MediaType>::parse("application/json", &["text/csv"])?;
    /// assert_eq!(offers.default().as_str(), "application/json");
    /// # Ok::<(), http_conventions::content::InvalidMediaType>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The parse error of the first malformed item.
    pub fn parse(first: &str, others: &[&str]) -> Result<Self, T::Err>
    where
        T: FromStr,
    {
        let others: Result<Vec<T>, T::Err> = others.iter().map(|text| text.parse()).collect();
        Ok(Self::new(first.parse()?, others?))
    }
}

impl<T> Offers<T> {
    /// Default: the first choice.
    #[must_use]
    pub const fn default(&self) -> &T {
        &self.first
    }

    /// All choices in order of preference.
    #[must_use]
    pub const fn all(&self) -> &[T] {
        &self.all
    }
}

impl<T> AsRef<[T]> for Offers<T> {
    fn as_ref(&self) -> &[T] {
        self.all()
    }
}
