//! Rows in memory, instead of a database.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::{DateTime, Duration, TimeZone, Utc};

/// Row of a book.
#[derive(Clone, Debug)]
pub struct BookRow {
    pub id: i32,
    pub title: String,
    pub isbn: String,
    pub cents: i32,
    pub genre: usize,
    pub authors: Vec<i32>,
    pub stock: i32,
    pub published: DateTime<Utc>,
}

/// Row of a review.
#[derive(Clone, Debug)]
pub struct ReviewRow {
    pub id: i32,
    pub book: i32,
    pub rating: i32,
    pub text: Option<String>,
    pub by: i32,
}

/// Row of an order.
#[derive(Clone, Debug)]
pub struct OrderRow {
    pub id: i32,
    pub customer: i32,
    pub lines: Vec<(i32, i32)>,
    pub is_cancelled: bool,
}

/// Signed-in customer and the role.
#[derive(Clone, Debug)]
pub struct Viewer {
    pub customer: i32,
    pub is_clerk: bool,
}

/// All rows.
#[derive(Debug, Default)]
pub struct Store {
    reviews: Mutex<Vec<ReviewRow>>,
    orders: Mutex<Vec<OrderRow>>,
    /// Statements that read authors.
    pub statements: AtomicUsize,
}

pub fn day(number: i32) -> DateTime<Utc> {
    let start = Utc
        .with_ymd_and_hms(2026, 2, 1, 8, 0, 0)
        .single()
        .unwrap_or_default();
    start + Duration::days(number.into())
}

pub fn books() -> Vec<BookRow> {
    let row = |id: i32| BookRow {
        id,
        title: format!("Book {id}"),
        isbn: format!("97800000000{id:02}"),
        cents: 999 + id * 50,
        genre: id as usize % 3,
        authors: if id % 2 == 0 { vec![1, 2] } else { vec![3] },
        stock: id * 2,
        published: day(id),
    };
    (1..=8).map(row).collect()
}

pub fn book(id: i32) -> Option<BookRow> {
    books().into_iter().find(|book| book.id == id)
}

impl Store {
    pub fn authors(&self, ids: &[i32]) -> Vec<(i32, String)> {
        self.statements.fetch_add(1, Ordering::SeqCst);
        let known = ids.iter().filter(|id| (1..=3).contains(*id));
        known.map(|id| (*id, format!("Author {id}"))).collect()
    }

    pub fn reviews(&self, book: i32) -> Vec<ReviewRow> {
        let built_in = (1..=book % 4).map(|id| ReviewRow {
            id: book * 10 + id,
            book,
            rating: 1 + id,
            text: (id % 2 == 0).then(|| format!("review {id}")),
            by: id,
        });
        let added = self.reviews.lock().unwrap().clone();
        built_in
            .chain(added.into_iter().filter(|review| review.book == book))
            .collect()
    }

    pub fn add_review(&self, book: i32, rating: i32, text: Option<String>, by: i32) -> ReviewRow {
        let mut reviews = self.reviews.lock().unwrap();
        let review = ReviewRow {
            id: 100 + reviews.len() as i32,
            book,
            rating,
            text,
            by,
        };
        reviews.push(review.clone());
        review
    }

    pub fn orders(&self, customer: i32) -> Vec<OrderRow> {
        let orders = self.orders.lock().unwrap();
        orders
            .iter()
            .filter(|order| order.customer == customer)
            .cloned()
            .collect()
    }

    pub fn place(&self, customer: i32, lines: Vec<(i32, i32)>) -> OrderRow {
        let mut orders = self.orders.lock().unwrap();
        let order = OrderRow {
            id: orders.len() as i32 + 1,
            customer,
            lines,
            is_cancelled: false,
        };
        orders.push(order.clone());
        order
    }

    pub fn cancel(&self, id: i32) -> Option<OrderRow> {
        let mut orders = self.orders.lock().unwrap();
        let order = orders.iter_mut().find(|order| order.id == id)?;
        order.is_cancelled = true;
        Some(order.clone())
    }
}
