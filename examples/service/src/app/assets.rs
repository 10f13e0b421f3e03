//! Static files of the pages: style sheets, scripts and an icon. The pages contain
//! none of it inline, so that their policy can forbid inline code.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Response};
use http_conventions::caching::CacheControl;
use http_conventions::caching::{EntityTag, Preconditions, Validators};

use super::{App, Handled};

/// A static file, the same for every client.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asset {
    name: &'static str,
    content_type: &'static str,
    content: &'static str,
}

const ASSETS: &[Asset] = &[
    Asset {
        name: "desk.css",
        content_type: "text/css; charset=utf-8",
        content: include_str!("../../assets/desk.css"),
    },
    Asset {
        name: "tokens.css",
        content_type: "text/css; charset=utf-8",
        content: include_str!("../../assets/tokens.css"),
    },
    Asset {
        name: "console.css",
        content_type: "text/css; charset=utf-8",
        content: include_str!("../../assets/console.css"),
    },
    Asset {
        name: "client.js",
        content_type: "text/javascript; charset=utf-8",
        content: include_str!("../../assets/client.js"),
    },
    Asset {
        name: "console.js",
        content_type: "text/javascript; charset=utf-8",
        content: include_str!("../../assets/console.js"),
    },
    Asset {
        name: "icon.svg",
        content_type: "image/svg+xml",
        content: include_str!("../../assets/icon.svg"),
    },
];

impl Asset {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        ASSETS.iter().find(|asset| asset.name == name)
    }

    fn response(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from_static(self.content.as_bytes()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // names carry no version, so caches revalidate
        CacheControl::revalidate().apply(headers);
        response
    }
}

impl App {
    pub(super) fn show_asset(&self, preconditions: &Preconditions<'_>, asset: &Asset) -> Handled {
        let tag = EntityTag::of_content(asset.content.as_bytes());
        let validators = Validators::default().with_entity_tag(tag);
        preconditions.answer_read(&validators, asset.response(), self.conventions.problems())
    }
}
