//! GraphQL schema: queries, mutations and a subscription over the desk.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt, stream};
use graph_core::connection::{Cursors, Direction, PageArguments, PageLimits, PageRequest};
use graph_core::error::ErrorCode;
use graph_core::{GraphError, LookAhead, RequestContext, graph_object, graph_subscription};
use juniper::ID;
use tokio::sync::broadcast::Receiver;

use super::loads::Customers;
use super::loss::Loss;
use crate::app::effects::{Effect, Kind};
use crate::app::streams::{MAX_STREAMS_PER_USER, OpenStreams, StreamPermit};
use crate::desk::{
    ChargeColumn, ChargeFilter, Desk, DeskError, Order, PartialCharge, PartialCustomer, Placed, Window,
};
use crate::domain::{self, ChargeStatus, NewCharge, NewRefund};

/// Application context of the resolvers.
pub(super) struct Host {
    /// The desk in the trace of the request.
    pub(super) desk: Desk,
    pub(super) cursors: Cursors,
    /// Reported when a subscription may have missed updates.
    pub(super) loss: Loss,
    /// Places for the subscriptions of the user; `None` if they are not bounded by user.
    pub(super) quota: Option<Quota>,
}

/// Places for the subscriptions of one user.
pub(super) struct Quota {
    pub(super) streams: OpenStreams,
    pub(super) subject: String,
}

impl Quota {
    /// Takes a place for a subscription.
    fn admit(&self) -> Result<StreamPermit, GraphError> {
        let permit = self.streams.admit(&self.subject);
        permit.ok_or_else(|| {
            let message =
                format!("{MAX_STREAMS_PER_USER} subscriptions of this user are open; stop one of them first");
            GraphError::new(ErrorCode::RateLimited, message)
        })
    }
}

pub(super) type Context = RequestContext<Arc<Host>>;

/// Converts a failure of the desk to a GraphQL error. Failures of the database or of hashing are
/// masked.
pub(super) fn refused(error: DeskError) -> GraphError {
    match error {
        DeskError::Faulty(faults) => {
            let told: Vec<String> = faults
                .iter()
                .map(|fault| format!("{}: {}", fault.pointer, fault.detail))
                .collect();
            GraphError::bad_user_input(told.join("; "))
        }
        DeskError::ExceedsCharge { left } => {
            GraphError::conflict(format!("the charge has {left} left to refund"))
        }
        DeskError::NotFound => GraphError::not_found("no such charge"),
        DeskError::Changed => GraphError::conflict("the charge has changed"),
        error @ (DeskError::TakenOver(_) | DeskError::Store(_) | DeskError::Hashing(_)) => {
            GraphError::internal(error)
        }
    }
}

fn units(amount: u32) -> i32 {
    i32::try_from(amount).unwrap_or(i32::MAX)
}

/// A charge: money taken from a customer.
#[derive(Clone)]
pub(super) struct Charge(PartialCharge);

impl From<domain::Charge> for Charge {
    fn from(charge: domain::Charge) -> Self {
        Self(charge.into())
    }
}

/// Columns that the selected fields of a charge need.
fn columns(selected: &LookAhead<'_, Charge>) -> Vec<ChargeColumn> {
    let needed = [
        (selected.selects(|charge| charge.id), ChargeColumn::Id),
        (selected.selects(|charge| charge.amount), ChargeColumn::Amount),
        (selected.selects(|charge| charge.currency), ChargeColumn::Currency),
        (
            selected.selects(|charge| charge.amount_refunded),
            ChargeColumn::AmountRefunded,
        ),
        (selected.selects(|charge| charge.status), ChargeColumn::Status),
        (
            selected.selects(|charge| charge.description),
            ChargeColumn::Description,
        ),
        (selected.selects(|charge| charge.version), ChargeColumn::Version),
        (selected.selects(|charge| charge.customer), ChargeColumn::Customer),
    ];
    needed
        .into_iter()
        .filter_map(|(needed, column)| needed.then_some(column))
        .collect()
}

/// Value of a column that the look-ahead asked for.
fn column<T>(read: Option<T>) -> Result<T, GraphError> {
    read.ok_or_else(|| GraphError::internal("the column was not read"))
}

#[graph_object(context = Context, look_ahead)]
impl Charge {
    fn id(&self) -> Result<ID, GraphError> {
        Ok(ID::new(column(self.0.id.as_ref())?.as_str()))
    }
    /// Amount in the currency's smallest unit.
    fn amount(&self) -> Result<i32, GraphError> {
        Ok(units(column(self.0.amount)?.units()))
    }
    /// Currency code of ISO 4217 in lower case.
    fn currency(&self) -> Result<&str, GraphError> {
        Ok(column(self.0.currency.as_ref())?.as_str())
    }
    /// Refunded amount in the currency's smallest unit.
    fn amount_refunded(&self) -> Result<i32, GraphError> {
        Ok(units(column(self.0.amount_refunded)?))
    }
    /// `succeeded`, `partially_refunded` or `refunded`.
    fn status(&self) -> Result<&str, GraphError> {
        Ok(column(self.0.status)?.as_str())
    }
    fn description(&self) -> Result<Option<&str>, GraphError> {
        Ok(column(self.0.description.as_ref())?.as_deref())
    }
    /// Number of the current version, from 1.
    fn version(&self) -> Result<i32, GraphError> {
        Ok(units(column(self.0.version)?))
    }
    /// Charged customer, if one was given.
    async fn customer(
        &self,
        context: &Context,
        look_ahead: LookAhead<'_, Customer>,
    ) -> Result<Option<Customer>, GraphError> {
        let Some(id) = column(self.0.customer.clone())? else {
            return Ok(None);
        };
        let found = context.load_fields::<Customers>(id, look_ahead.fields()).await?;
        Ok(found.map(Customer))
    }
}

/// A customer, who can be charged.
pub(super) struct Customer(PartialCustomer);

#[graph_object(context = Context, look_ahead)]
impl Customer {
    fn id(&self) -> ID {
        ID::new(self.0.id.as_str())
    }
    /// Display name.
    fn name(&self) -> Result<&str, GraphError> {
        column(self.0.name.as_deref())
    }
}

graph_core::connection! {
    /// A page of charges, newest first.
    pub(super) ChargeConnection, pub(super) ChargeEdge, Charge, Context, look_ahead
}

/// Caller of the operation.
pub(super) struct Viewer {
    subject: String,
}

#[graph_object(context = Context)]
impl Viewer {
    /// Subject of the access token.
    fn subject(&self) -> &str {
        &self.subject
    }
}

/// A refund, queued or booked.
pub(super) struct Refund(domain::Refund);

#[graph_object(context = Context)]
impl Refund {
    fn id(&self) -> ID {
        ID::new(self.0.id.as_str())
    }
    fn amount(&self) -> i32 {
        units(self.0.amount.units())
    }
    /// `pending`, `succeeded` or `failed`.
    fn status(&self) -> &str {
        self.0.status.as_str()
    }
}

pub(super) struct Query;

#[graph_object(context = Context)]
impl Query {
    /// Charges, newest first.
    #[graph(scope = "read:charges")]
    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments of a connection, and its filter"
    )]
    async fn charges(
        context: &Context,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
        status: Option<String>,
        look_ahead: LookAhead<'_, ChargeConnection>,
    ) -> Result<ChargeConnection, GraphError> {
        let no_such = || GraphError::bad_user_input("`status` has no such value");
        let status = status
            .map(|word| ChargeStatus::parse(&word).ok_or_else(no_such))
            .transpose()?;
        let page = context
            .host()
            .cursors
            .field("Query.charges")
            .bind_to("status", status.map_or("", ChargeStatus::as_str))
            .request(
                PageLimits::default(),
                PageArguments {
                    first,
                    after,
                    last,
                    before,
                },
            )?;
        let filter = ChargeFilter {
            status,
            ..ChargeFilter::default()
        };
        let columns = columns(&look_ahead.below(|page| page.edges).below(|edge| edge.node));
        let rows = context
            .host()
            .desk
            .partial_charges(filter, window(&page)?, columns)
            .await
            .map_err(refused)?;
        let page = page.rows(rows, |placed: &Placed<PartialCharge>| placed.position.to_string());
        Ok(page.map(|placed| Charge(placed.row)).into())
    }

    /// Charge by id.
    #[graph(scope = "read:charges")]
    async fn charge(
        context: &Context,
        id: ID,
        look_ahead: LookAhead<'_, Charge>,
    ) -> Result<Option<Charge>, GraphError> {
        let Ok(id) = id.parse() else { return Ok(None) };
        let found = context.host().desk.partial_charge(id, columns(&look_ahead)).await;
        Ok(found.map_err(refused)?.map(Charge))
    }

    /// Caller of the operation, or null without a token.
    fn viewer(context: &Context) -> Option<Viewer> {
        context.principal().map(|principal| Viewer {
            subject: principal.subject().to_owned(),
        })
    }
}

/// Window of rows for a page of the connection.
fn window(page: &PageRequest) -> Result<Window, GraphError> {
    let (order, from) = match page.direction() {
        Direction::Forward => (Order::NewestFirst, page.after()),
        Direction::Backward => (Order::OldestFirst, page.before()),
    };
    let from = from
        .map(|position| position.parse::<i64>().map_err(GraphError::internal))
        .transpose()?;
    Ok(Window {
        from,
        order,
        limit: page.fetch_limit(),
    })
}

pub(super) struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    /// Creates a charge.
    #[graph(scope = "write:charges")]
    async fn create_charge(
        context: &Context,
        amount: i32,
        currency: String,
        customer: Option<ID>,
        description: Option<String>,
    ) -> Result<Option<Charge>, GraphError> {
        let customer = customer.map(|id| id.to_string());
        let body = NewCharge {
            amount: amount.into(),
            currency,
            customer,
            description,
        };
        let charge = context.host().desk.create_charge(body).await.map_err(refused)?;
        Effect::changed(Kind::Charge, &charge.id).record();
        Ok(Some(charge.into()))
    }

    /// Queues a refund of `amount`, or of the rest of the charge. It is booked later.
    #[graph(scope = "write:refunds")]
    async fn refund_charge(
        context: &Context,
        id: ID,
        amount: Option<i32>,
    ) -> Result<Option<Refund>, GraphError> {
        let charge = id.parse().map_err(|_| GraphError::not_found("no such charge"))?;
        let body = NewRefund {
            amount: amount.map(i64::from),
        };
        let desk = &context.host().desk;
        let refund = desk.request_refund(charge, body).await.map_err(refused)?;
        Effect::changed(Kind::Refund, &refund.id).record();
        Ok(Some(Refund(refund)))
    }
}

type Updates = Pin<Box<dyn Stream<Item = Result<Charge, GraphError>> + Send>>;

pub(super) struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    /// Charges as they are created or changed, or only the charge `id`.
    #[graph(scope = "read:charges")]
    async fn charge_updated(context: &Context, id: Option<ID>) -> Result<Updates, GraphError> {
        let wanted = id.map(|id| id.to_string());
        let host = context.host();
        let permit = host.quota.as_ref().map(Quota::admit).transpose()?;
        let updates = updates(host.desk.charge_updates(), host.loss.clone());
        let of_interest = updates.filter(move |charge| {
            std::future::ready(wanted.as_ref().is_none_or(|id| charge.id.as_str() == id))
        });
        let held = of_interest.map(move |charge| {
            let _place = &permit;
            Ok(charge.into())
        });
        Ok(held.boxed())
    }
}

/// The updates as a stream. It does not end: after a subscriber may have missed updates its
/// connection ends, by way of `loss`.
fn updates(receiver: Receiver<domain::Charge>, loss: Loss) -> impl Stream<Item = domain::Charge> + Send {
    stream::unfold((receiver, loss), |(mut receiver, loss)| async move {
        if let Ok(charge) = receiver.recv().await {
            return Some((charge, (receiver, loss)));
        }
        loss.report();
        std::future::pending().await
    })
}
