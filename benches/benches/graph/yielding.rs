//! The schema whose object fields are asynchronous and pending once: 3,001 such fields among 1,000
//! users. One source for two engines, each with its attribute.

/// Declares the objects with the attribute of an engine; `$author` is its other object.
macro_rules! yielding {
    ($object:meta, $($author:ident)::+) => {
        use crate::data;
        use crate::$($author)::+;
        use crate::direct::{Context, Role};
        use crate::pause::pause;

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
            async fn author(&self) -> Author {
                pause().await;
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
            async fn posts(&self, first: i32) -> Vec<Post> {
                pause().await;
                data::posts(self.0, first).map(Post).collect()
            }
        }

        pub(crate) struct Query;

        #[$object]
        impl Query {
            async fn ping() -> i32 {
                pause().await;
                1
            }
            async fn users(first: i32) -> Vec<User> {
                pause().await;
                data::users(first).map(User).collect()
            }
        }
    };
}

pub(crate) mod ours {
    yielding!(graph_core::graph_object(context = Context), direct::ours::Author);
}

pub(crate) mod theirs {
    yielding!(
        ::juniper::graphql_object(context = Context),
        engines::theirs::Author
    );
}
