//! Links to the neighbours of a page of a list.

use http_conventions::paging::Page;

/// Links of a list. An empty link is not shown.
pub(super) struct Pager {
    pub(super) newest: String,
    pub(super) newer: String,
    pub(super) older: String,
}

impl Pager {
    /// Links to the neighbours of `page`, with the filters of the list.
    pub(super) fn of<T>(path: &str, filters: &[(&str, &str)], page: &Page<T>) -> Self {
        let link = |cursor: Option<(&str, &str)>| {
            let set = filters.iter().copied().filter(|(_, value)| !value.is_empty());
            let query = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(set.chain(cursor))
                .finish();
            match query.is_empty() {
                true => path.to_owned(),
                false => format!("{path}?{query}"),
            }
        };
        let newer = page
            .previous_cursor()
            .map(|cursor| link(Some(("before", cursor))));
        let older = page.next_cursor().filter(|_| page.has_more());
        Self {
            newest: if newer.is_some() {
                link(None)
            } else {
                String::new()
            },
            newer: newer.unwrap_or_default(),
            older: older
                .map(|cursor| link(Some(("after", cursor))))
                .unwrap_or_default(),
        }
    }
}
