//! Links.

use http::{HeaderMap, HeaderValue, Method, header::LINK};
use serde::{Serialize, Serializer, ser::SerializeMap as _};

use crate::{content::MediaType, routing::Location};

mod relation;
mod write;

pub use self::relation::{InvalidRelation, Relation};

/// Where something is, and how to ask for it.
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
    /// A link to follow, by GET.
    #[must_use]
    pub const fn new(href: Location) -> Self {
        Self {
            href,
            method: None,
            title: None,
            media_type: None,
        }
    }

    /// An action: the link is asked by this method.
    #[must_use]
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// With a name for people to read, in any script.
    #[must_use]
    pub fn with_title(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned());
        self
    }

    /// Says what to expect there; a hint only ([RFC 8288 §3.4.1](https://www.rfc-editor.org/rfc/rfc8288#section-3.4.1)).
    #[must_use]
    pub fn with_media_type(mut self, media_type: MediaType) -> Self {
        self.media_type = Some(media_type);
        self
    }

    /// Where it leads.
    #[must_use]
    pub const fn href(&self) -> &Location {
        &self.href
    }

    /// The value of one `Link` with this relation.
    ///
    /// The target is of the characters of a URI, so that nothing in it ends the angle brackets; a title of other characters than
    /// visible ASCII and the space is written as `title*` ([RFC 8187](https://www.rfc-editor.org/rfc/rfc8187)).
    #[must_use]
    pub fn header_value(&self, relation: &Relation) -> HeaderValue {
        let title = self.title.as_deref();
        write::link(&self.href, relation, title, self.media_type.as_ref())
    }

    /// `Link` names what may be looked at; it has no word for a method.
    fn is_followed(&self) -> bool {
        self.method.as_ref().is_none_or(|method| *method == Method::GET)
    }
}

/// Named links, in the order they were added. Serialized, it is one object with a member for each.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Links(Vec<(Relation, Link)>);

impl Links {
    /// With this link, in place of an earlier one of that relation.
    #[must_use]
    pub fn with(mut self, relation: Relation, link: Link) -> Self {
        match self.0.iter_mut().find(|(there, _)| *there == relation) {
            Some((_, there)) => *there = link,
            None => self.0.push((relation, link)),
        }
        self
    }

    /// The link of this relation.
    #[must_use]
    pub fn find(&self, relation: &Relation) -> Option<&Link> {
        self.iter()
            .find_map(|(there, link)| (there == relation).then_some(link))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&Relation, &Link)> {
        self.0.iter().map(|(relation, link)| (relation, link))
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds one `Link` line for each link that is to be followed and is not there yet; actions, which ask for another method than GET, are left to
    /// the body.
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
