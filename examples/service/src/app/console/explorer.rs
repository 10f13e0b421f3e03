//! The explorer of the GraphQL API, with example operations.

use askama::Template;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use http_conventions::caching::CacheControl;
use serde_json::json;

use super::super::assets::vendor_path;
use super::super::lists::query_parameter;
use super::super::page::{Capability, rendered};
use super::super::problem::unavailable;
use super::super::{App, Handled};
use super::text::grouped;
use super::{Frame, Visitor};
use crate::desk::{ChargeFilter, Order, Window};

#[derive(Template)]
#[template(path = "console/explorer.html")]
struct ExplorerPage {
    frame: Frame,
    vendor: String,
    csrf_token: String,
    /// Subject of the user, which separates the histories of the users of one browser.
    subject: String,
    meters: [Meter; 4],
    examples: Vec<Example>,
    chosen: Example,
}

/// A number that a limit bounds.
struct Meter {
    /// Member of the size that the service reports.
    member: &'static str,
    name: &'static str,
    limit: u64,
    limit_text: String,
}

/// An operation to start from.
#[derive(Clone)]
struct Example {
    word: &'static str,
    name: &'static str,
    what: &'static str,
    query: String,
    /// JSON; empty without variables.
    variables: String,
}

impl App {
    pub(super) async fn show_explorer(&self, request: &Request<Bytes>, visitor: &Visitor) -> Handled {
        let examples = examples(&self.newest_charge().await?);
        let wanted = query_parameter(request, "op").unwrap_or_default();
        let chosen = examples.iter().find(|example| example.word == wanted);
        let chosen = chosen.or_else(|| examples.first()).cloned();
        let limits = self.graph.limits();
        let meter = |member, name, limit: u64| Meter {
            member,
            name,
            limit,
            limit_text: grouped(limit, 0),
        };
        let [depth, aliases, roots] =
            [limits.depth(), limits.aliases(), limits.root_fields()].map(|limit| limit as u64);
        let page = ExplorerPage {
            frame: self.frame("explorer", visitor).await?,
            vendor: vendor_path(),
            csrf_token: visitor.browser.csrf_token(),
            subject: visitor.user.subject.clone(),
            meters: [
                meter("cost", "Cost", limits.cost()),
                meter("depth", "Depth", depth),
                meter("aliases", "Aliases", aliases),
                meter("root_fields", "Fields at the root", roots),
            ],
            chosen: chosen.ok_or_else(unavailable)?,
            examples,
        };
        rendered(StatusCode::OK, &page, &Capability::Embed)
    }

    /// The schema in SDL, for people and tools.
    pub(super) fn show_schema() -> Handled {
        let schema = Self::graph_schema().map_err(|_| unavailable())?;
        let mut response = Response::new(Bytes::from(schema));
        let headers = response.headers_mut();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        );
        headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
        CacheControl::private_no_store().apply(headers);
        Ok(response)
    }

    /// Id of the newest charge; of no charge, if there is none.
    async fn newest_charge(&self) -> Result<String, http_conventions::errors::Problem> {
        let first = Window {
            from: None,
            order: Order::NewestFirst,
            limit: 1,
        };
        let found = self.desk.charges(ChargeFilter::default(), first).await;
        let found = found.map_err(|error| self.refused(error))?;
        Ok(found
            .first()
            .map_or_else(|| "ch_none".to_owned(), |placed| placed.row.id.to_string()))
    }
}

const CHARGES: &str = "query Charges($first: Int = 8, $after: String) {
  charges(first: $first, after: $after) {
    edges {
      node {
        id
        amount
        currency
        status
        customer { name }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}";

const CHARGE: &str = "query Charge($id: ID!) {
  charge(id: $id) {
    id
    amount
    amountRefunded
    currency
    status
    description
    version
    customer { id name }
  }
}";

const NEW_CHARGE: &str = "mutation NewCharge($amount: Int!, $currency: String!, $description: String) {
  createCharge(amount: $amount, currency: $currency, description: $description) {
    id
    status
    version
  }
}";

const REFUND: &str = "mutation Refund($id: ID!, $amount: Int) {
  refundCharge(id: $id, amount: $amount) {
    id
    amount
    status
  }
}";

const CHANGES: &str = "subscription Changes {
  chargeUpdated {
    id
    amount
    amountRefunded
    currency
    status
  }
}";

const PARTIAL: &str = "query Partial {
  viewer { subject }
  charges(first: 1, status: \"no such status\") {
    edges { node { id } }
  }
}";

/// Examples, of which some name the charge `charge`.
fn examples(charge: &str) -> Vec<Example> {
    let of = |word, name, what, query: &str, variables: serde_json::Value| Example {
        word,
        name,
        what,
        query: query.to_owned(),
        variables: match variables.is_null() {
            true => String::new(),
            false => format!("{variables:#}"),
        },
    };
    let aliases: String = (1..=31)
        .map(|number| format!("  a{number}: viewer {{ subject }}\n"))
        .collect();
    let too_much = format!("query TooMuch {{\n{aliases}}}");
    let order = json!({ "amount": 4_900, "currency": "eur", "description": "From the explorer" });
    vec![
        of(
            "charges",
            "Charges",
            "a page with customers",
            CHARGES,
            json!({ "first": 8 }),
        ),
        of("charge", "One charge", "by id", CHARGE, json!({ "id": charge })),
        of("create", "New charge", "mutation, writes", NEW_CHARGE, order),
        of(
            "refund",
            "Refund",
            "mutation, writes",
            REFUND,
            json!({ "id": charge, "amount": 100 }),
        ),
        of(
            "changes",
            "Changes",
            "subscription, stays open",
            CHANGES,
            json!(null),
        ),
        of(
            "partial",
            "Partial result",
            "data and errors at once",
            PARTIAL,
            json!(null),
        ),
        of(
            "much",
            "Too much",
            "is refused, on purpose",
            &too_much,
            json!(null),
        ),
    ]
}
