//! Object types, enums, inputs, scalars.

use std::sync::Arc;

use async_graphql::dataloader::DataLoader;
use async_graphql::{
    ComplexObject, Context, Enum, Error, ErrorExtensions as _, Guard, ID, InputObject, InputValueError,
    InputValueResult, Interface, MaybeUndefined, Object, Result, Scalar, ScalarType, SimpleObject, Union,
    Value,
};
use chrono::{DateTime, Utc};

use crate::loaders::Authors;
use crate::store::{BookRow, OrderRow, ReviewRow, Store, Viewer, day};

/// International Standard Book Number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Isbn(pub String);

#[Scalar(specified_by_url = "https://www.isbn-international.org/")]
impl ScalarType for Isbn {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(text) if text.len() == 13 && text.bytes().all(|digit| digit.is_ascii_digit()) => {
                Ok(Self(text))
            }
            other => Err(InputValueError::expected_type(other)),
        }
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }
}

#[derive(Clone, Copy, Debug, Enum, Eq, PartialEq)]
pub enum Genre {
    Novel,
    Poetry,
    #[graphql(name = "SCIENCE", deprecation = "use NOVEL")]
    Nonfiction,
}

/// Refuses all but clerks.
pub struct ClerkGuard;

impl Guard for ClerkGuard {
    async fn check(&self, ctx: &Context<'_>) -> Result<()> {
        match ctx.data_opt::<Viewer>() {
            Some(viewer) if viewer.is_clerk => Ok(()),
            _ => {
                Err(Error::new("clerks only")
                    .extend_with(|_, extensions| extensions.set("code", "FORBIDDEN")))
            }
        }
    }
}

/// Amount of money.
#[derive(Clone, Debug, SimpleObject)]
pub struct Money {
    /// In cents.
    pub amount: i32,
    pub currency: &'static str,
}

/// Book of the shop.
#[derive(Clone, Debug)]
pub struct Book(pub BookRow);

#[Object]
impl Book {
    async fn id(&self) -> ID {
        ID::from(self.0.id)
    }

    async fn title(&self) -> &str {
        &self.0.title
    }

    async fn isbn(&self) -> Isbn {
        Isbn(self.0.isbn.clone())
    }

    async fn price(&self) -> Money {
        Money {
            amount: self.0.cents,
            currency: "EUR",
        }
    }

    async fn genre(&self) -> Genre {
        [Genre::Novel, Genre::Poetry, Genre::Nonfiction][self.0.genre]
    }

    async fn published_on(&self) -> DateTime<Utc> {
        self.0.published
    }

    async fn authors(&self, ctx: &Context<'_>) -> Result<Vec<Author>> {
        let loader = ctx.data::<DataLoader<Authors>>()?;
        let names = loader.load_many(self.0.authors.iter().copied()).await?;
        let of = |id: &i32| {
            names.get(id).map(|name| Author {
                id: (*id).into(),
                name: name.clone(),
                born: 1900 + id,
            })
        };
        Ok(self.0.authors.iter().filter_map(of).collect())
    }

    #[graphql(complexity = "first.max(0) as usize * child_complexity")]
    async fn reviews(
        &self,
        ctx: &Context<'_>,
        #[graphql(default = 2, validator(minimum = 1, maximum = 20))] first: i32,
    ) -> Result<Vec<Review>> {
        let reviews = ctx.data::<Arc<Store>>()?.reviews(self.0.id).into_iter();
        Ok(reviews.take(first as usize).map(Review::from).collect())
    }

    async fn rating(&self, ctx: &Context<'_>) -> Option<f64> {
        let reviews = ctx.data_unchecked::<Arc<Store>>().reviews(self.0.id);
        let sum: i32 = reviews.iter().map(|review| review.rating).sum();
        (!reviews.is_empty()).then(|| f64::from(sum) / reviews.len() as f64)
    }

    /// Copies in the shop; for clerks.
    #[graphql(guard = "ClerkGuard")]
    async fn stock(&self) -> Option<i32> {
        Some(self.0.stock)
    }

    async fn cover(&self, #[graphql(default = 200)] width: u16) -> String {
        format!("https://img.example/{}?w={width}", self.0.id)
    }

    async fn sequel(&self) -> Option<Book> {
        crate::store::book(self.0.id + 4).map(Book)
    }

    #[graphql(deprecation = "use `price`")]
    async fn cents(&self) -> i32 {
        self.0.cents
    }
}

/// Person who wrote books.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(complex)]
pub struct Author {
    pub id: ID,
    pub name: String,
    pub born: i32,
}

#[ComplexObject]
impl Author {
    async fn books(&self) -> Vec<Book> {
        let number = self.id.parse().unwrap_or(0);
        crate::store::books()
            .into_iter()
            .filter(|book| book.authors.contains(&number))
            .map(Book)
            .collect()
    }

    async fn initials(&self) -> String {
        self.name
            .split(' ')
            .filter_map(|word| word.chars().next())
            .collect()
    }

    async fn biography(&self) -> Result<Option<String>> {
        Err(Error::new(format!("no biography of {}", self.name)))
    }
}

/// Opinion about a book.
#[derive(Clone, Debug, SimpleObject)]
pub struct Review {
    pub id: ID,
    pub rating: i32,
    pub text: Option<String>,
    pub at: DateTime<Utc>,
    #[graphql(skip)]
    pub by: i32,
}

impl From<ReviewRow> for Review {
    fn from(row: ReviewRow) -> Self {
        Self {
            id: row.id.into(),
            rating: row.rating,
            text: row.text,
            at: day(row.by),
            by: row.by,
        }
    }
}

/// Present of a sum.
#[derive(Clone, Debug, SimpleObject)]
pub struct Voucher {
    pub id: ID,
    pub title: String,
    pub price: Money,
    pub code: String,
    pub valid_until: DateTime<Utc>,
}

impl Voucher {
    pub fn new(number: i32) -> Self {
        Self {
            id: format!("v{number}").into(),
            title: format!("Voucher {number}"),
            price: Money {
                amount: 2000,
                currency: "EUR",
            },
            code: format!("GIFT-{number}"),
            valid_until: day(365),
        }
    }
}

/// Thing for sale.
#[derive(Clone, Debug, Interface)]
#[graphql(
    field(name = "id", ty = "&ID"),
    field(name = "title", ty = "&String"),
    field(name = "price", ty = "&Money")
)]
pub enum Product {
    Book(BookProduct),
    Voucher(Voucher),
}

/// Book as a product.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "BookOffer")]
pub struct BookProduct {
    pub id: ID,
    pub title: String,
    pub price: Money,
    pub isbn: Isbn,
}

#[derive(Clone, Debug, Union)]
pub enum Found {
    Book(Book),
    Author(Author),
    Voucher(Voucher),
}

/// Person who buys.
pub struct Customer {
    pub number: i32,
}

#[Object]
impl Customer {
    async fn id(&self) -> ID {
        self.number.into()
    }

    async fn name(&self) -> String {
        format!("Customer {}", self.number)
    }

    async fn orders(&self, ctx: &Context<'_>) -> Result<Vec<Order>> {
        Ok(ctx
            .data::<Arc<Store>>()?
            .orders(self.number)
            .into_iter()
            .map(Order)
            .collect())
    }

    async fn wishes(&self) -> Vec<Product> {
        let row = &crate::store::books()[0];
        let book = BookProduct {
            id: row.id.into(),
            title: row.title.clone(),
            price: Money {
                amount: row.cents,
                currency: "EUR",
            },
            isbn: Isbn(row.isbn.clone()),
        };
        vec![Product::Book(book), Product::Voucher(Voucher::new(1))]
    }

    async fn newsletter(&self) -> bool {
        self.number == 1
    }
}

/// Order of books.
pub struct Order(pub OrderRow);

#[Object]
impl Order {
    async fn id(&self) -> ID {
        self.0.id.into()
    }

    async fn lines(&self) -> Vec<OrderLine> {
        let line = |(book, quantity): &(i32, i32)| {
            crate::store::book(*book).map(|row| OrderLine {
                book: Book(row),
                quantity: *quantity,
            })
        };
        self.0.lines.iter().filter_map(line).collect()
    }

    async fn total(&self) -> Money {
        let cents =
            |(book, quantity): &(i32, i32)| crate::store::book(*book).map_or(0, |row| row.cents * quantity);
        Money {
            amount: self.0.lines.iter().map(cents).sum(),
            currency: "EUR",
        }
    }

    async fn is_cancelled(&self) -> bool {
        self.0.is_cancelled
    }
}

/// Book and quantity of an order.
#[derive(SimpleObject)]
pub struct OrderLine {
    pub book: Book,
    pub quantity: i32,
}

#[derive(Debug, InputObject)]
pub struct BookFilter {
    pub genre: Option<Genre>,
    #[graphql(default = 100_000)]
    pub max_cents: i32,
    pub text: Option<String>,
}

#[derive(Debug, InputObject)]
pub struct NewReview {
    pub book: ID,
    #[graphql(validator(minimum = 1, maximum = 5))]
    pub rating: i32,
    #[graphql(validator(max_length = 20))]
    pub text: Option<String>,
}

#[derive(Debug, InputObject)]
pub struct LineInput {
    pub isbn: Isbn,
    #[graphql(default = 1, validator(minimum = 1))]
    pub quantity: i32,
}

#[derive(Debug, InputObject)]
pub struct Settings {
    pub newsletter: MaybeUndefined<bool>,
    pub name: MaybeUndefined<String>,
}
