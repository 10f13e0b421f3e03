//! The schema whose object fields are asynchronous and pending once: 3,001 such fields among 1,000
//! users.

use graph_core::graph_object;

use crate::data;
use crate::direct::{Author, Context, Role};
use crate::pause::pause;

struct Post(&'static data::Post);

#[graph_object(context = Context)]
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

#[graph_object(context = Context)]
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

#[graph_object(context = Context)]
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
