//! Pages of a list: one generic type, an object type for each kind of entry.

use juniper::{FieldError, FieldResult, GraphQLObject, ScalarValue, graphql_object, graphql_value};

use crate::context::Context;
use crate::issues::Issue;
use crate::people::User;

/// Part of a list.
#[derive(Clone, Debug)]
pub struct Page<T> {
    nodes: Vec<T>,
    total: i32,
    start: usize,
}

/// Position of a page.
#[derive(Clone, Debug, GraphQLObject)]
pub struct PageInfo {
    pub has_next_page: bool,
    pub end_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Cuts the page of `first` entries that follow the cursor `after`.
    pub fn new<S: ScalarValue>(all: Vec<T>, first: i32, after: Option<&str>) -> FieldResult<Self, S> {
        if !(0..=50).contains(&first) {
            let allowed = graphql_value!({ "code": "BAD_USER_INPUT", "argument": "first", "maximum": 50 });
            return Err(FieldError::new("`first` is out of range", allowed));
        }
        let start: usize = after.map_or(Ok(0), str::parse)?;
        let total = all.len() as i32;
        Ok(Self {
            nodes: all.into_iter().skip(start).take(first as usize).collect(),
            total,
            start,
        })
    }

    fn info(&self) -> PageInfo {
        let end = self.start + self.nodes.len();
        PageInfo {
            has_next_page: end < self.total as usize,
            end_cursor: Some(end.to_string()),
        }
    }
}

macro_rules! page {
    ($name:literal, $node:ty) => {
        #[graphql_object]
        #[graphql(context = Context, name = $name)]
        impl Page<$node> {
            fn nodes(&self) -> &[$node] {
                &self.nodes
            }

            fn total(&self) -> i32 {
                self.total
            }

            fn page_info(&self) -> PageInfo {
                self.info()
            }
        }
    };
}

page!("IssuePage", Issue);
page!("UserPage", User);
