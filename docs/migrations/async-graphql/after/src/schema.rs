//! Roots.

use futures::stream::{self, BoxStream, StreamExt as _};
use graph_core::{ErrorCode, GraphError, graph_object, graph_subscription};
use juniper::{ID, Nullable};

use crate::context::{Context, viewer};
use crate::store::{book, books};
use crate::types::{
    Author, Book, BookFilter, Customer, Found, Isbn, LineInput, Money, NewReview, Order, Review, Settings,
    Voucher, number,
};

/// Root of queries.
pub struct Query;

#[graph_object(context = Context)]
impl Query {
    fn book(id: ID) -> Result<Option<Book>, GraphError> {
        Ok(book(number(&id)?).map(Book))
    }

    fn by_isbn(isbn: Isbn) -> Result<Book, GraphError> {
        let found = books().into_iter().find(|row| row.isbn == isbn.0);
        found
            .map(Book)
            .ok_or_else(|| GraphError::not_found(format!("no book {}", isbn.0)))
    }

    fn books(filter: Option<BookFilter>, #[graphql(default = 3)] first: i32) -> Vec<Book> {
        let rows = books().into_iter().filter(|row| match &filter {
            None => true,
            Some(filter) => {
                row.cents <= filter.max_cents
                    && filter.genre.is_none_or(|genre| genre as usize == row.genre)
                    && filter.text.as_ref().is_none_or(|text| row.title.contains(text))
            }
        });
        rows.take(first.max(0) as usize).map(Book).collect()
    }

    fn search(#[graph(validate(min_length = 2))] text: String) -> Vec<Found> {
        let book = books()
            .into_iter()
            .find(|row| row.title.contains(&text))
            .map(Book)
            .map(Found::Book);
        let author = Author {
            id: ID::new("1"),
            name: "Author 1".to_owned(),
            born: 1901,
        };
        book.into_iter()
            .chain([Found::Author(author), Found::Voucher(Voucher::new(2))])
            .collect()
    }

    fn me(context: &Context) -> Result<Option<Customer>, GraphError> {
        Ok(Some(Customer {
            number: viewer(context)?,
        }))
    }

    #[graph(role = "clerk")]
    fn turnover() -> Option<Money> {
        Some(Money {
            amount: 123_456,
            currency: "EUR",
        })
    }
}

/// Root of mutations.
pub struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    fn add_review(context: &Context, input: NewReview) -> Result<Review, GraphError> {
        let by = viewer(context)?;
        let number = number(&input.book)?;
        Ok(context
            .host()
            .add_review(number, input.rating, input.text, by)
            .into())
    }

    fn place_order(
        context: &Context,
        #[graph(validate(min_items = 1))] lines: Vec<LineInput>,
    ) -> Result<Option<Order>, GraphError> {
        let customer = viewer(context)?;
        let line = |line: &LineInput| {
            let found = books().into_iter().find(|row| row.isbn == line.isbn.0);
            let row = found.ok_or_else(|| GraphError::not_found(format!("no book {}", line.isbn.0)))?;
            Ok((row.id, line.quantity))
        };
        let lines = lines.iter().map(line).collect::<Result<Vec<_>, GraphError>>()?;
        Ok(Some(Order(context.host().place(customer, lines))))
    }

    fn cancel_order(context: &Context, id: ID) -> Result<Option<Order>, GraphError> {
        Ok(context.host().cancel(number(&id)?).map(Order))
    }

    /// Answers which settings were set, cleared or left out.
    fn set(settings: Settings) -> String {
        let newsletter = match settings.newsletter {
            Nullable::ImplicitNull => "left out",
            Nullable::ExplicitNull => "cleared",
            Nullable::Some(_) => "set",
        };
        let name = match settings.name {
            Nullable::ImplicitNull => "left out".to_owned(),
            Nullable::ExplicitNull => "cleared".to_owned(),
            Nullable::Some(name) => name,
        };
        format!("newsletter {newsletter}, name {name}")
    }
}

/// Root of subscriptions.
pub struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn price_changed(book: ID) -> Result<BoxStream<'static, Result<Money, GraphError>>, GraphError> {
        let number = number(&book)?;
        let row =
            crate::store::book(number).ok_or_else(|| GraphError::not_found(format!("no book {number}")))?;
        let money = move |change| {
            Ok(Money {
                amount: row.cents + change,
                currency: "EUR",
            })
        };
        let lost = GraphError::new(ErrorCode::Conflict, "event lost");
        Ok(stream::iter([money(0), Err(lost), money(50)]).boxed())
    }

    async fn ticks(#[graphql(default = 2)] count: i32) -> BoxStream<'static, i32> {
        stream::iter(0..count).boxed()
    }
}
