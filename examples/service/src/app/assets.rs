//! Static files of the pages: style sheets, scripts, an icon, and the vendored browser libraries.
//! The pages contain none of it inline, so that their policy can forbid inline code.

use std::sync::LazyLock;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Response};
use http_conventions::caching::CacheControl;
use http_conventions::caching::{EntityTag, Preconditions, Validators};
use sha2::{Digest as _, Sha256};

use super::{App, Handled};

/// A static file, the same for every client.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asset {
    name: &'static str,
    content_type: &'static str,
    content: &'static [u8],
    is_vendored: bool,
}

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! asset {
    ($name:literal, $content_type:expr) => {
        Asset {
            name: $name,
            content_type: $content_type,
            content: include_bytes!(concat!("../../assets/", $name)),
            is_vendored: false,
        }
    };
}

macro_rules! vendored {
    ($name:literal, $content_type:expr) => {
        Asset {
            name: $name,
            content_type: $content_type,
            content: include_bytes!(concat!("../../assets/vendor/files/", $name)),
            is_vendored: true,
        }
    };
}

const ASSETS: &[Asset] = &[
    asset!("desk.css", CSS),
    asset!("tokens.css", CSS),
    asset!("console.css", CSS),
    asset!("explorer.css", CSS),
    asset!("client.js", JAVASCRIPT),
    asset!("console.js", JAVASCRIPT),
    asset!("explorer.js", JAVASCRIPT),
    asset!("reference.js", JAVASCRIPT),
    asset!("icon.svg", "image/svg+xml"),
];

const VENDORED: &[Asset] = &[
    vendored!("graphiql.js", JAVASCRIPT),
    vendored!("graphiql.css", CSS),
    vendored!("worker.js", JAVASCRIPT),
    vendored!("codicon.ttf", "font/ttf"),
    vendored!("redoc.js", JAVASCRIPT),
    vendored!("LICENCES.txt", "text/plain; charset=utf-8"),
];

/// Edition of the vendored files: a hash of their checksums. It is part of their paths.
static EDITION: LazyLock<String> = LazyLock::new(|| {
    let digest = Sha256::digest(include_bytes!("../../assets/vendor/checksums"));
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
});

/// Path of the folder of the vendored files.
pub(super) fn vendor_path() -> String {
    format!("/assets/vendor/{}", *EDITION)
}

impl Asset {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        ASSETS.iter().find(|asset| asset.name == name)
    }

    /// Vendored file of this edition. Returns `None` for another edition.
    pub(super) fn vendored(edition: &str, name: &str) -> Option<&'static Self> {
        let found = VENDORED.iter().find(|asset| asset.name == name);
        found.filter(|_| edition == *EDITION)
    }

    fn response(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from_static(self.content));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        match self.is_vendored {
            // the path changes with the content
            true => {
                let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
                headers.insert(CACHE_CONTROL, forever);
            }
            // names carry no version, so caches revalidate
            false => CacheControl::revalidate().apply(headers),
        }
        response
    }

    fn tag(&self) -> EntityTag {
        match self.is_vendored {
            // a hash of megabytes takes too long
            true => EntityTag::of_content(format!("{} {}", *EDITION, self.name).as_bytes()),
            false => EntityTag::of_content(self.content),
        }
    }
}

impl App {
    pub(super) fn show_asset(&self, preconditions: &Preconditions<'_>, asset: &Asset) -> Handled {
        let validators = Validators::default().with_entity_tag(asset.tag());
        preconditions.answer_read(&validators, asset.response(), self.conventions.problems())
    }
}
