//! Roots.

use std::sync::Arc;

use async_graphql::{Context, Error, ErrorExtensions as _, ID, MaybeUndefined, Object, Result, Subscription};
use futures::{Stream, stream};

use crate::store::{Store, Viewer, book, books};
use crate::types::{
    Author, Book, BookFilter, ClerkGuard, Customer, Found, Isbn, LineInput, Money, NewReview, Order, Review,
    Settings, Voucher,
};

/// Root of queries.
pub struct Query;

fn refuse(code: &'static str, message: String) -> Error {
    Error::new(message).extend_with(|_, extensions| extensions.set("code", code))
}

fn viewer<'c>(ctx: &Context<'c>) -> Result<&'c Viewer> {
    ctx.data_opt::<Viewer>()
        .ok_or_else(|| refuse("UNAUTHENTICATED", "sign in first".to_owned()))
}

#[Object]
impl Query {
    async fn book(&self, id: ID) -> Result<Option<Book>> {
        let number: i32 = id.parse()?;
        Ok(book(number).map(Book))
    }

    async fn by_isbn(&self, isbn: Isbn) -> Result<Book> {
        let found = books().into_iter().find(|row| row.isbn == isbn.0);
        found
            .map(Book)
            .ok_or_else(|| refuse("NOT_FOUND", format!("no book {}", isbn.0)))
    }

    async fn books(&self, filter: Option<BookFilter>, #[graphql(default = 3)] first: i32) -> Vec<Book> {
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

    async fn search(&self, #[graphql(validator(min_length = 2))] text: String) -> Vec<Found> {
        let book = books()
            .into_iter()
            .find(|row| row.title.contains(&text))
            .map(Book)
            .map(Found::Book);
        let author = Author {
            id: 1.into(),
            name: "Author 1".to_owned(),
            born: 1901,
        };
        book.into_iter()
            .chain([Found::Author(author), Found::Voucher(Voucher::new(2))])
            .collect()
    }

    async fn me(&self, ctx: &Context<'_>) -> Result<Option<Customer>> {
        Ok(Some(Customer {
            number: viewer(ctx)?.customer,
        }))
    }

    #[graphql(guard = "ClerkGuard")]
    async fn turnover(&self) -> Option<Money> {
        Some(Money {
            amount: 123_456,
            currency: "EUR",
        })
    }
}

/// Root of mutations.
pub struct Mutation;

#[Object]
impl Mutation {
    async fn add_review(&self, ctx: &Context<'_>, input: NewReview) -> Result<Review> {
        let by = viewer(ctx)?.customer;
        let number: i32 = input.book.parse()?;
        let store = ctx.data::<Arc<Store>>()?;
        Ok(store.add_review(number, input.rating, input.text, by).into())
    }

    async fn place_order(
        &self,
        ctx: &Context<'_>,
        #[graphql(validator(min_items = 1))] lines: Vec<LineInput>,
    ) -> Result<Option<Order>> {
        let customer = viewer(ctx)?.customer;
        let line = |line: &LineInput| {
            let found = books().into_iter().find(|row| row.isbn == line.isbn.0);
            let row = found.ok_or_else(|| refuse("NOT_FOUND", format!("no book {}", line.isbn.0)))?;
            Ok((row.id, line.quantity))
        };
        let lines = lines.iter().map(line).collect::<Result<Vec<_>>>()?;
        Ok(Some(Order(ctx.data::<Arc<Store>>()?.place(customer, lines))))
    }

    async fn cancel_order(&self, ctx: &Context<'_>, id: ID) -> Result<Option<Order>> {
        let number: i32 = id.parse()?;
        Ok(ctx.data::<Arc<Store>>()?.cancel(number).map(Order))
    }

    /// Answers which settings were set, cleared or left out.
    async fn set(&self, settings: Settings) -> String {
        let newsletter = match settings.newsletter {
            MaybeUndefined::Undefined => "left out",
            MaybeUndefined::Null => "cleared",
            MaybeUndefined::Value(_) => "set",
        };
        let name = match settings.name {
            MaybeUndefined::Undefined => "left out".to_owned(),
            MaybeUndefined::Null => "cleared".to_owned(),
            MaybeUndefined::Value(name) => name,
        };
        format!("newsletter {newsletter}, name {name}")
    }
}

/// Root of subscriptions.
pub struct Subscription;

#[Subscription]
impl Subscription {
    async fn price_changed(&self, book: ID) -> Result<impl Stream<Item = Result<Money>> + use<>> {
        let number: i32 = book.parse()?;
        let row =
            crate::store::book(number).ok_or_else(|| refuse("NOT_FOUND", format!("no book {number}")))?;
        let money = move |change| {
            Ok(Money {
                amount: row.cents + change,
                currency: "EUR",
            })
        };
        Ok(stream::iter([
            money(0),
            Err(refuse("EVENT_LOST", "event lost".to_owned())),
            money(50),
        ]))
    }

    async fn ticks(&self, #[graphql(default = 2)] count: i32) -> impl Stream<Item = i32> + use<> {
        stream::iter(0..count)
    }
}
