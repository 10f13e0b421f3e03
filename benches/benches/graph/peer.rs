//! The same schema for async-graphql, with fields that are ready at once and with fields that are
//! pending once.
//!
//! A field is asynchronous if and only if ours is; scalar fields never are.

use async_graphql::{EmptyMutation, EmptySubscription, Enum, Object, Schema};

use crate::data;
use crate::pause::pause;

#[derive(Clone, Copy, Enum, Eq, PartialEq)]
enum Role {
    Admin,
    Member,
}

impl From<data::Role> for Role {
    fn from(role: data::Role) -> Self {
        match role {
            data::Role::Admin => Self::Admin,
            data::Role::Member => Self::Member,
        }
    }
}

struct Author(&'static data::Author);

#[Object]
impl Author {
    async fn id(&self) -> i32 {
        self.0.id
    }
    async fn name(&self) -> &str {
        &self.0.name
    }
}

/// Both schemas in one source: `$wait` runs first in a field of an object type.
macro_rules! types {
    ($module:ident, $wait:expr) => {
        pub(crate) mod $module {
            use super::*;

            struct Post(&'static data::Post);

            #[Object]
            impl Post {
                async fn id(&self) -> i32 {
                    self.0.id
                }
                async fn title(&self) -> &str {
                    &self.0.title
                }
                async fn likes(&self) -> i32 {
                    self.0.likes
                }
                async fn author(&self) -> Author {
                    let () = $wait;
                    Author(&self.0.author)
                }
            }

            struct User(&'static data::User);

            #[Object]
            impl User {
                async fn id(&self) -> i32 {
                    self.0.id
                }
                async fn name(&self) -> &str {
                    &self.0.name
                }
                async fn email(&self) -> &str {
                    &self.0.email
                }
                async fn age(&self) -> i32 {
                    self.0.age
                }
                async fn role(&self) -> Role {
                    self.0.role.into()
                }
                async fn posts(&self, first: i32) -> Vec<Post> {
                    let () = $wait;
                    data::posts(self.0, first).map(Post).collect()
                }
            }

            pub(crate) struct Query;

            #[Object]
            impl Query {
                async fn ping(&self) -> i32 {
                    let () = $wait;
                    1
                }
                async fn users(&self, first: i32) -> Vec<User> {
                    let () = $wait;
                    data::users(first).map(User).collect()
                }
            }

            /// The schema, without limits.
            pub(crate) fn schema() -> Schema<Query, EmptyMutation, EmptySubscription> {
                Schema::new(Query, EmptyMutation, EmptySubscription)
            }
        }
    };
}
types!(direct, ());
types!(yielding, pause().await);
