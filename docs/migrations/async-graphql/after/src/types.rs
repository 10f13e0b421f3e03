//! Object types, enums, inputs, scalars.

use std::fmt::Display;

use chrono::Utc;
use futures::future::try_join_all;
use graph_core::{GraphError, GraphInput, GraphObject, graph_interface, graph_object, graph_union};
use juniper::{GraphQLEnum, GraphQLInputObject, GraphQLScalar, ID, Nullable};

use crate::context::Context;
use crate::loaders::Authors;
use crate::store::{BookRow, OrderRow, ReviewRow, day};

// International Standard Book Number; without a description, as before
#[derive(Clone, Debug, Eq, GraphQLScalar, PartialEq)]
#[graphql(
    specified_by_url = "https://www.isbn-international.org/",
    to_output_with = Self::to_output,
    from_input_with = Self::from_input,
    parse_token(String)
)]
pub struct Isbn(pub String);

impl Isbn {
    fn to_output(&self) -> &str {
        &self.0
    }

    fn from_input(text: &str) -> Result<Self, &'static str> {
        match text.len() == 13 && text.bytes().all(|digit| digit.is_ascii_digit()) {
            true => Ok(Self(text.to_owned())),
            false => Err("not 13 digits"),
        }
    }
}

/// Implement the DateTime<Utc> scalar
///
/// The input/output is a string in RFC3339 format.
// in the text of async-graphql, with `+00:00`; juniper's feature `chrono` writes `Z`
#[derive(Clone, Copy, Debug, Eq, GraphQLScalar, PartialEq)]
#[graphql(name = "DateTime", with = time, parse_token(String))]
pub struct Time(pub chrono::DateTime<Utc>);

mod time {
    use super::*;

    pub(super) fn to_output(time: &Time) -> impl Display {
        time.0.to_rfc3339()
    }

    pub(super) fn from_input(text: &str) -> Result<Time, Box<str>> {
        text.parse()
            .map(Time)
            .map_err(|error| format!("not a time: {error}").into())
    }
}

#[derive(Clone, Copy, Debug, Eq, GraphQLEnum, PartialEq)]
pub enum Genre {
    Novel,
    Poetry,
    #[graphql(name = "SCIENCE", deprecated = "use NOVEL")]
    Nonfiction,
}

/// Amount of money.
#[derive(Clone, Debug, GraphObject)]
pub struct Money {
    /// In cents.
    pub amount: i32,
    pub currency: &'static str,
}

/// Number in an id.
pub fn number(id: &ID) -> Result<i32, GraphError> {
    let parsed: Result<i32, std::num::ParseIntError> = id.parse();
    parsed.map_err(|error| GraphError::bad_user_input(error.to_string()))
}

fn id(number: i32) -> ID {
    ID::new(number.to_string())
}

/// Book of the shop.
#[derive(Clone, Debug)]
pub struct Book(pub BookRow);

#[graph_object(context = Context)]
impl Book {
    fn id(&self) -> ID {
        id(self.0.id)
    }

    fn title(&self) -> &str {
        &self.0.title
    }

    fn isbn(&self) -> Isbn {
        Isbn(self.0.isbn.clone())
    }

    fn price(&self) -> Money {
        Money {
            amount: self.0.cents,
            currency: "EUR",
        }
    }

    fn genre(&self) -> Genre {
        [Genre::Novel, Genre::Poetry, Genre::Nonfiction][self.0.genre]
    }

    fn published_on(&self) -> Time {
        Time(self.0.published)
    }

    async fn authors(&self, context: &Context) -> Result<Vec<Author>, GraphError> {
        let names = self.0.authors.iter().map(|id| context.load::<Authors>(*id));
        let names = try_join_all(names).await?;
        let of = |(number, name): (&i32, Option<String>)| {
            Some(Author {
                id: id(*number),
                name: name?,
                born: 1900 + number,
            })
        };
        Ok(self.0.authors.iter().zip(names).filter_map(of).collect())
    }

    fn reviews(
        &self,
        context: &Context,
        #[graphql(default = 2)]
        #[graph(validate(min = 1, max = 20))]
        first: i32,
    ) -> Vec<Review> {
        let reviews = context.host().reviews(self.0.id).into_iter();
        reviews.take(first as usize).map(Review::from).collect()
    }

    fn rating(&self, context: &Context) -> Option<f64> {
        let reviews = context.host().reviews(self.0.id);
        let sum: i32 = reviews.iter().map(|review| review.rating).sum();
        (!reviews.is_empty()).then(|| f64::from(sum) / reviews.len() as f64)
    }

    /// Copies in the shop; for clerks.
    #[graph(role = "clerk")]
    fn stock(&self) -> Option<i32> {
        Some(self.0.stock)
    }

    fn cover(&self, #[graphql(default = 200)] width: i32) -> String {
        format!("https://img.example/{}?w={width}", self.0.id)
    }

    fn sequel(&self) -> Option<Self> {
        crate::store::book(self.0.id + 4).map(Book)
    }

    #[graphql(deprecated = "use `price`")]
    fn cents(&self) -> i32 {
        self.0.cents
    }
}

#[derive(Clone, Debug)]
pub struct Author {
    pub id: ID,
    pub name: String,
    pub born: i32,
}

/// Person who wrote books.
#[graph_object(context = Context)]
impl Author {
    fn id(&self) -> &ID {
        &self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn born(&self) -> i32 {
        self.born
    }

    fn books(&self) -> Vec<Book> {
        let number = self.id.parse().unwrap_or(0);
        crate::store::books()
            .into_iter()
            .filter(|book| book.authors.contains(&number))
            .map(Book)
            .collect()
    }

    fn initials(&self) -> String {
        self.name
            .split(' ')
            .filter_map(|word| word.chars().next())
            .collect()
    }

    fn biography(&self) -> Result<Option<String>, GraphError> {
        Err(GraphError::not_found(format!("no biography of {}", self.name)))
    }
}

/// Opinion about a book.
#[derive(Clone, Debug, GraphObject)]
pub struct Review {
    pub id: ID,
    pub rating: i32,
    pub text: Option<String>,
    pub at: Time,
    #[graphql(ignore)]
    pub by: i32,
}

impl From<ReviewRow> for Review {
    fn from(row: ReviewRow) -> Self {
        Self {
            id: id(row.id),
            rating: row.rating,
            text: row.text,
            at: Time(day(row.by)),
            by: row.by,
        }
    }
}

/// Present of a sum.
#[derive(Clone, Debug, GraphObject)]
#[graphql(context = Context, impl = ProductValue)]
pub struct Voucher {
    pub id: ID,
    pub title: String,
    pub price: Money,
    pub code: String,
    pub valid_until: Time,
}

impl Voucher {
    pub fn new(number: i32) -> Self {
        Self {
            id: ID::new(format!("v{number}")),
            title: format!("Voucher {number}"),
            price: Money {
                amount: 2000,
                currency: "EUR",
            },
            code: format!("GIFT-{number}"),
            valid_until: Time(day(365)),
        }
    }
}

/// Thing for sale.
#[graph_interface]
#[graphql(for = [BookProduct, Voucher], context = Context)]
pub struct Product {
    id: ID,
    title: String,
    price: Money,
}

/// Book as a product.
#[derive(Clone, Debug, GraphObject)]
#[graphql(name = "BookOffer", context = Context, impl = ProductValue)]
pub struct BookProduct {
    pub id: ID,
    pub title: String,
    pub price: Money,
    pub isbn: Isbn,
}

#[graph_union(context = Context)]
#[derive(Clone, Debug)]
pub enum Found {
    Book(Book),
    Author(Author),
    Voucher(Voucher),
}

/// Person who buys.
pub struct Customer {
    pub number: i32,
}

#[graph_object(context = Context)]
impl Customer {
    fn id(&self) -> ID {
        id(self.number)
    }

    fn name(&self) -> String {
        format!("Customer {}", self.number)
    }

    fn orders(&self, context: &Context) -> Vec<Order> {
        context
            .host()
            .orders(self.number)
            .into_iter()
            .map(Order)
            .collect()
    }

    fn wishes(&self) -> Vec<ProductValue> {
        let row = &crate::store::books()[0];
        let book = BookProduct {
            id: id(row.id),
            title: row.title.clone(),
            price: Money {
                amount: row.cents,
                currency: "EUR",
            },
            isbn: Isbn(row.isbn.clone()),
        };
        vec![book.into(), Voucher::new(1).into()]
    }

    fn newsletter(&self) -> bool {
        self.number == 1
    }
}

/// Order of books.
pub struct Order(pub OrderRow);

#[graph_object(context = Context)]
impl Order {
    fn id(&self) -> ID {
        id(self.0.id)
    }

    fn lines(&self) -> Vec<OrderLine> {
        let line = |(book, quantity): &(i32, i32)| {
            crate::store::book(*book).map(|row| OrderLine {
                book: Book(row),
                quantity: *quantity,
            })
        };
        self.0.lines.iter().filter_map(line).collect()
    }

    fn total(&self) -> Money {
        let cents =
            |(book, quantity): &(i32, i32)| crate::store::book(*book).map_or(0, |row| row.cents * quantity);
        Money {
            amount: self.0.lines.iter().map(cents).sum(),
            currency: "EUR",
        }
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled
    }
}

/// Book and quantity of an order.
#[derive(GraphObject)]
#[graphql(context = Context)]
pub struct OrderLine {
    pub book: Book,
    pub quantity: i32,
}

#[derive(Clone, Debug, GraphInput, GraphQLInputObject)]
pub struct BookFilter {
    pub genre: Option<Genre>,
    #[graphql(default = 100_000)]
    pub max_cents: i32,
    pub text: Option<String>,
}

#[derive(Clone, Debug, GraphInput, GraphQLInputObject)]
pub struct NewReview {
    pub book: ID,
    #[graph(validate(min = 1, max = 5))]
    pub rating: i32,
    #[graph(validate(max_length = 20))]
    pub text: Option<String>,
}

#[derive(Clone, Debug, GraphInput, GraphQLInputObject)]
pub struct LineInput {
    pub isbn: Isbn,
    #[graphql(default = 1)]
    #[graph(validate(min = 1))]
    pub quantity: i32,
}

#[derive(Clone, Debug, GraphInput, GraphQLInputObject)]
pub struct Settings {
    pub newsletter: Nullable<bool>,
    pub name: Nullable<String>,
}
