//! Links to related resources and actions.

use http::{HeaderMap, HeaderValue, Method, header::LINK};
use serde::{Serialize, Serializer, ser::SerializeMap as _};

use crate::{content::MediaType, routing::Location};

mod relation;
mod write;

pub use self::relation::{InvalidRelation, Relation};

/// A link: target, method, title and media type.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Link {
    href: Location,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "method_name")]
    method: Option<Method>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(
        rename = "type",
        skip_serializing_if = "Option::is_none",
        serialize_with = "media_type_text"
    )]
    media_type: Option<MediaType>,
}

impl Link {
    /// Creates a link for GET.
    #[must_use]
    pub const fn new(href: Location) -> Self {
        Self {
            href,
            method: None,
            title: None,
            media_type: None,
        }
    }

    /// Sets the method. A link without a method is for GET.
    #[must_use]
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// Sets a human-readable title in any script.
    #[must_use]
    pub fn with_title(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned());
        self
    }

    /// Sets the media type that the client can expect: a hint only ([RFC 8288
    /// §3.4.1](https://www.rfc-editor.org/rfc/rfc8288#section-3.4.1)).
    #[must_use]
    pub fn with_media_type(mut self, media_type: MediaType) -> Self {
        self.media_type = Some(media_type);
        self
    }

    /// Target of the link.
    #[must_use]
    pub const fn href(&self) -> &Location {
        &self.href
    }

    /// Value of a `Link` field with this relation.
    ///
    /// A title with characters other than visible ASCII and space is written as `title*` ([RFC
    /// 8187](https://www.rfc-editor.org/rfc/rfc8187)).
    ///
    /// # Security
    ///
    /// The target contains only characters of a URI, so it cannot contain `>`, which ends the
    /// target in the field.
    #[must_use]
    pub fn header_value(&self, relation: &Relation) -> HeaderValue {
        let title = self.title.as_deref();
        write::link(&self.href, relation, title, self.media_type.as_ref())
    }

    /// Returns `true` if the link is for GET: a `Link` field cannot express another method.
    fn is_followed(&self) -> bool {
        self.method.as_ref().is_none_or(|method| *method == Method::GET)
    }
}

/// Named links in insertion order. Serializes as an object with one member per relation.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Links(Vec<(Relation, Link)>);

impl Links {
    /// Adds a link; replaces an earlier link of the same relation.
    #[must_use]
    pub fn with(mut self, relation: Relation, link: Link) -> Self {
        match self.0.iter_mut().find(|(there, _)| *there == relation) {
            Some((_, there)) => *there = link,
            None => self.0.push((relation, link)),
        }
        self
    }

    /// Finds the link of a relation.
    #[must_use]
    pub fn find(&self, relation: &Relation) -> Option<&Link> {
        self.iter()
            .find_map(|(there, link)| (there == relation).then_some(link))
    }

    /// Iterates over all links.
    pub fn iter(&self) -> impl Iterator<Item = (&Relation, &Link)> {
        self.0.iter().map(|(relation, link)| (relation, link))
    }

    /// Returns `true` if there are no links.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a `Link` line for each GET link that the headers do not contain yet.
    ///
    /// Links with other methods are not added, because a `Link` field cannot express a method.
    pub fn apply(&self, headers: &mut HeaderMap) {
        for (relation, link) in self.iter().filter(|(_, link)| link.is_followed()) {
            let line = link.header_value(relation);
            if !headers.get_all(LINK).iter().any(|there| *there == line) {
                headers.append(LINK, line);
            }
        }
    }
}

impl Serialize for Links {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.0.len()))?;
        for (relation, link) in self.iter() {
            object.serialize_entry(relation.as_str(), link)?;
        }
        object.end()
    }
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn method_name<S: Serializer>(method: &Option<Method>, serializer: S) -> Result<S::Ok, S::Error> {
    method.as_ref().map(Method::as_str).serialize(serializer)
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn media_type_text<S: Serializer>(media_type: &Option<MediaType>, serializer: S) -> Result<S::Ok, S::Error> {
    media_type.as_ref().map(MediaType::as_str).serialize(serializer)
}
