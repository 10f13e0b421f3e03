//! The data of every engine: users in memory, each with two posts, each with an author.

use std::sync::LazyLock;

use serde::Serialize;

/// Largest `first` argument.
pub(crate) const MOST: usize = 1000;

/// A thousand users.
pub(crate) static USERS: LazyLock<Vec<User>> = LazyLock::new(|| (0..1000).map(User::new).collect());

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Role {
    Admin,
    Member,
}

#[derive(Serialize)]
pub(crate) struct Author {
    pub(crate) id: i32,
    pub(crate) name: String,
}

#[derive(Serialize)]
pub(crate) struct Post {
    pub(crate) id: i32,
    pub(crate) title: String,
    pub(crate) likes: i32,
    pub(crate) author: Author,
}

#[derive(Serialize)]
pub(crate) struct User {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) age: i32,
    pub(crate) role: Role,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) posts: Vec<Post>,
}

impl User {
    fn new(id: i32) -> Self {
        let author = |id| Author {
            id,
            name: format!("User {id}"),
        };
        let post = |number| Post {
            id: number,
            title: format!("Post {number} of user {id}"),
            likes: 7 * number,
            author: author(id),
        };
        Self {
            id,
            name: format!("User {id}"),
            email: format!("user{id}@example.com"),
            age: 20 + id % 60,
            role: if id % 5 == 0 { Role::Admin } else { Role::Member },
            posts: vec![post(2 * id), post(2 * id + 1)],
        }
    }

    /// The same user without posts, for `flat`.
    fn flat(&self) -> Self {
        Self {
            id: self.id,
            name: self.name.clone(),
            email: self.email.clone(),
            age: self.age,
            role: self.role,
            posts: Vec::new(),
        }
    }
}

/// The first `first` users.
pub(crate) fn users(first: i32) -> impl Iterator<Item = &'static User> {
    USERS.iter().take(usize::try_from(first).unwrap_or_default())
}

/// The first `first` posts of a user.
pub(crate) fn posts(user: &'static User, first: i32) -> impl Iterator<Item = &'static Post> {
    user.posts.iter().take(usize::try_from(first).unwrap_or_default())
}

/// `data` of a response, for the floors.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Data {
    Ping { ping: i32 },
    Users { users: Vec<User> },
}

/// An operation, and the expected response of every engine.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) query: String,
    pub(crate) data: Data,
}

/// One scalar field; 1, 10 and 1,000 users with their posts; 1,000 without.
pub(crate) fn cases() -> Vec<Case> {
    let nested = |first: usize| {
        let fields = "{ id name email age role posts(first: 2) { id title likes author { id name } } }";
        let users = (0..).take(first).map(User::new).collect();
        (
            format!("{{ users(first: {first}) {fields} }}"),
            Data::Users { users },
        )
    };
    let flat = format!("{{ users(first: {MOST}) {{ id name email age role }} }}");
    let users = USERS.iter().map(User::flat).collect();
    let mut cases = vec![Case {
        name: "one scalar",
        query: "{ ping }".to_owned(),
        data: Data::Ping { ping: 1 },
    }];
    for (name, first) in [("1 nested", 1), ("10 nested", 10), ("1,000 nested", MOST)] {
        let (query, data) = nested(first);
        cases.push(Case { name, query, data });
    }
    cases.push(Case {
        name: "1,000 flat",
        query: flat,
        data: Data::Users { users },
    });
    cases
}
