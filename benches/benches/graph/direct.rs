//! The schema with synchronous fields. One source for two engines, each with its attribute.

use graph_core::{GraphEnum, RequestContext};
use juniper::GraphQLEnum;

use crate::data;

pub(crate) type Context = RequestContext<()>;

#[derive(Clone, Copy, GraphQLEnum, GraphEnum)]
pub(crate) enum Role {
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

/// Declares the objects with the attribute of an engine.
macro_rules! direct {
    ($object:meta) => {
        use crate::data;
        use crate::direct::{Context, Role};

        pub(crate) struct Author(pub(crate) &'static data::Author);

        #[$object]
        impl Author {
            fn id(&self) -> i32 {
                self.0.id
            }
            fn name(&self) -> &str {
                &self.0.name
            }
        }

        struct Post(&'static data::Post);

        #[$object]
        impl Post {
            fn id(&self) -> i32 {
                self.0.id
            }
            fn title(&self) -> &str {
                &self.0.title
            }
            fn likes(&self) -> i32 {
                self.0.likes
            }
            fn author(&self) -> Author {
                Author(&self.0.author)
            }
        }

        struct User(&'static data::User);

        #[$object]
        impl User {
            fn id(&self) -> i32 {
                self.0.id
            }
            fn name(&self) -> &str {
                &self.0.name
            }
            fn email(&self) -> &str {
                &self.0.email
            }
            fn age(&self) -> i32 {
                self.0.age
            }
            fn role(&self) -> Role {
                self.0.role.into()
            }
            fn posts(&self, first: i32) -> Vec<Post> {
                data::posts(self.0, first).map(Post).collect()
            }
        }

        pub(crate) struct Query;

        #[$object]
        impl Query {
            fn ping() -> i32 {
                1
            }
            fn users(first: i32) -> Vec<User> {
                data::users(first).map(User).collect()
            }
        }
    };
}

pub(crate) mod ours {
    direct!(graph_core::graph_object(context = Context));
}
