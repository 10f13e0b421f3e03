//! Reference of the REST API, rendered from the OpenAPI document.

use askama::Template;
use http::StatusCode;

use super::super::assets::vendor_path;
use super::super::page::{Capability, rendered};
use super::super::{App, Handled};
use super::{Frame, Visitor};

#[derive(Template)]
#[template(path = "console/reference.html")]
struct ReferencePage {
    frame: Frame,
    vendor: String,
}

impl App {
    pub(super) async fn show_reference(&self, visitor: &Visitor) -> Handled {
        let page = ReferencePage {
            frame: self.frame("reference", visitor).await?,
            vendor: vendor_path(),
        };
        rendered(StatusCode::OK, &page, &Capability::Embed)
    }
}
