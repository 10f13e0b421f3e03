//! What a host can answer with.

use std::str::FromStr;

/// At least one choice, the best first: it is the default, and wins among those that are wanted alike.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Offers<T> {
    first: T,
    all: Box<[T]>,
}

impl<T: Clone> Offers<T> {
    /// These, in this order of preference.
    #[must_use]
    pub fn new(first: T, others: impl IntoIterator<Item = T>) -> Self {
        let all = std::iter::once(first.clone()).chain(others).collect();
        Self { first, all }
    }

    /// These, in this order of preference, as they are written.
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
    /// That of the first which is malformed.
    pub fn parse(first: &str, others: &[&str]) -> Result<Self, T::Err>
    where
        T: FromStr,
    {
        let others: Result<Vec<T>, T::Err> = others.iter().map(|text| text.parse()).collect();
        Ok(Self::new(first.parse()?, others?))
    }
}

impl<T> Offers<T> {
    /// The one to answer with where nothing else is asked for.
    #[must_use]
    pub const fn default(&self) -> &T {
        &self.first
    }

    /// All of them, the best first.
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
