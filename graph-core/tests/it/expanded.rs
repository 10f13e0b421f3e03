//! What the attributes emit, written by hand: a small graph with everything that they know.
//!
//! Each block stands behind the host's own code exactly as it was written, with juniper's attribute in the place of ours.

#![expect(
    clippy::needless_borrow,
    reason = "a return type decides how many of the references are looked through"
)]
#![expect(
    clippy::wildcard_imports,
    reason = "the attributes write whole paths, a reader wants short ones"
)]

use futures_util::stream::{self, Stream, StreamExt as _};
use graph_core::http::GraphRequest;
use graph_core::{Engine, GraphError, Principal, RequestContext};
use juniper::{
    EmptyMutation, FieldError, GraphQLEnum, GraphQLUnion, ID, RootNode, graphql_object, graphql_subscription,
};
use serde_json::{Value, json};

use crate::fixture::codes;

pub(crate) type Context = RequestContext<i32>;

/// A leaf of juniper's, without an attribute of ours.
#[derive(Clone, Copy, GraphQLEnum)]
pub(crate) enum Mood {
    Good,
    Bad,
}

// ---- an object: `#[graph_object(context = Context)] impl User<'_> {..}`

pub(crate) struct User<'a> {
    id: i32,
    name: &'a str,
}

#[graphql_object(context = Context)]
impl<'a> User<'a> {
    fn id(&self) -> ID {
        ID::new(self.id.to_string())
    }

    fn name(&self) -> &str {
        self.name
    }

    fn mood(&self) -> Mood {
        if self.id == 0 { Mood::Bad } else { Mood::Good }
    }

    async fn friends(&self, #[graphql(default = 2)] first: i32) -> Result<Vec<User<'static>>, GraphError> {
        tokio::task::yield_now().await;
        if first < 0 {
            return Err(GraphError::bad_user_input("`first` is negative"));
        }
        let friend = |id| User { id, name: "friend" };
        Ok((1..=first).map(|more| friend(self.id * 10 + more)).collect())
    }

    /// `#[graph(scope = "read:email")] fn email(&self) -> Option<String>`: the name of the shadow in the schema is that of the
    /// field; juniper's executor, which knows no guards, calls the shadow.
    #[graphql(name = "email")]
    fn __guarded_email(&self, context: &Context) -> Result<Option<String>, FieldError> {
        context.require_scope("read:email")?;
        Ok(self.email())
    }

    #[graphql(ignore)]
    fn email(&self) -> Option<String> {
        Some(format!("{}@example.com", self.id))
    }
}

const _: () = {
    use ::graph_core::executor::via::*;
    use ::graph_core::executor::*;

    // lifetimes in the host's signatures become `'static` in types that are named without a value
    impl<'a> Object<Context> for User<'a> {
        const INFO: &'static TypeInfo = &TypeInfo {
            name: "User",
            fields: &[
                FieldInfo {
                    name: "id",
                    register: |registry| (&&&&&Tag::<ID, Context>::NEW).register(registry),
                    ..FieldInfo::EMPTY
                },
                FieldInfo {
                    name: "name",
                    register: |registry| (&&&&&Tag::<&'static str, Context>::NEW).register(registry),
                    ..FieldInfo::EMPTY
                },
                FieldInfo {
                    name: "mood",
                    register: |registry| (&&&&&Tag::<Mood, Context>::NEW).register(registry),
                    ..FieldInfo::EMPTY
                },
                FieldInfo {
                    name: "friends",
                    is_async: true,
                    args: &["first"],
                    coerce: Some(|values| {
                        let arguments: (i32,) = (argument(values, 0)?,);
                        Ok(::std::sync::Arc::new(arguments))
                    }),
                    register: |registry| {
                        (&&&&&Tag::<Result<Vec<User<'static>>, GraphError>, Context>::NEW).register(registry);
                    },
                    ..FieldInfo::EMPTY
                },
                FieldInfo {
                    name: "email",
                    guard: Some(Guard::Scope("read:email")),
                    register: |registry| (&&&&&Tag::<Option<String>, Context>::NEW).register(registry),
                    ..FieldInfo::EMPTY
                },
            ],
        };

        fn field(&self, field: &Field, cx: &Cx<'_, Context>, path: &Path<'_>, out: &mut Vec<u8>) -> Flow {
            match field.index() {
                0 => {
                    let value = Self::id(self);
                    (&&&&&Tag::of(&value, cx)).emit(value, field, cx, path, out)
                }
                1 => {
                    let value = Self::name(self);
                    (&&&&&Tag::of(&value, cx)).emit(value, field, cx, path, out)
                }
                2 => {
                    let value = Self::mood(self);
                    (&&&&&Tag::of(&value, cx)).emit(value, field, cx, path, out)
                }
                4 => {
                    let value = Self::email(self);
                    (&&&&&Tag::of(&value, cx)).emit(value, field, cx, path, out)
                }
                _ => no_such_field(field, cx),
            }
        }

        fn field_async<'p>(
            &'p self,
            field: &'p Field,
            cx: &'p Cx<'p, Context>,
            trail: Trail,
        ) -> BoxFuture<'p, SegResult> {
            match field.index() {
                3 => Box::pin(async move {
                    let arguments = cx.args::<(i32,)>(field)?;
                    let permit = cx.enter().await;
                    let value = Self::friends(self, Clone::clone(&arguments.0)).await;
                    drop(permit);
                    (&&&&&Tag::of(&value, cx))
                        .emit_async(value, field, cx, trail)
                        .await
                }),
                _ => no_such_future(field, cx),
            }
        }
    }

    impl<'a> Output<Context> for User<'a> {
        fn register(registry: &mut Registry) {
            registry.object::<Context, Self>();
        }

        fn write(&self, field: &Field, cx: &Cx<'_, Context>, path: &Path<'_>, out: &mut Vec<u8>) -> Flow {
            write_object(self, field.selected("User"), cx, path, out)
        }

        fn write_async<'p>(
            &'p self,
            field: &'p Field,
            cx: &'p Cx<'p, Context>,
            path: &Path<'_>,
            seg: &mut Seg,
            pend: &mut Pend<'p>,
        ) -> Flow {
            write_object_async(self, field.selected("User"), cx, path, seg, pend)
        }
    }
};

// ---- fields of a struct: `#[derive(GraphQLObject, GraphObject)]`

#[derive(juniper::GraphQLObject)]
#[graphql(context = Context)]
pub(crate) struct Team {
    name: String,
    members: Vec<User<'static>>,
}

const _: () = {
    use ::graph_core::executor::via::*;
    use ::graph_core::executor::*;

    impl Object<Context> for Team {
        const INFO: &'static TypeInfo = &TypeInfo {
            name: "Team",
            fields: &[
                FieldInfo {
                    name: "name",
                    register: |registry| (&&&&&Tag::<String, Context>::NEW).register(registry),
                    ..FieldInfo::EMPTY
                },
                FieldInfo {
                    name: "members",
                    register: |registry| (&&&&&Tag::<Vec<User<'static>>, Context>::NEW).register(registry),
                    ..FieldInfo::EMPTY
                },
            ],
        };

        fn field(&self, field: &Field, cx: &Cx<'_, Context>, path: &Path<'_>, out: &mut Vec<u8>) -> Flow {
            match field.index() {
                0 => {
                    let value = &self.name;
                    (&&&&&Tag::of(&value, cx)).emit(value, field, cx, path, out)
                }
                1 => {
                    let value = &self.members;
                    (&&&&&Tag::of(&value, cx)).emit(value, field, cx, path, out)
                }
                _ => no_such_field(field, cx),
            }
        }

        // every field whose type is not written as a known scalar: something below it may be asynchronous
        fn field_async<'p>(
            &'p self,
            field: &'p Field,
            cx: &'p Cx<'p, Context>,
            trail: Trail,
        ) -> BoxFuture<'p, SegResult> {
            match field.index() {
                1 => Box::pin(async move {
                    let value = &self.members;
                    (&&&&&Tag::of(&value, cx))
                        .emit_async(value, field, cx, trail)
                        .await
                }),
                _ => no_such_future(field, cx),
            }
        }
    }

    impl Output<Context> for Team {
        fn register(registry: &mut Registry) {
            registry.object::<Context, Self>();
        }

        fn write(&self, field: &Field, cx: &Cx<'_, Context>, path: &Path<'_>, out: &mut Vec<u8>) -> Flow {
            write_object(self, field.selected("Team"), cx, path, out)
        }

        fn write_async<'p>(
            &'p self,
            field: &'p Field,
            cx: &'p Cx<'p, Context>,
            path: &Path<'_>,
            seg: &mut Seg,
            pend: &mut Pend<'p>,
        ) -> Flow {
            write_object_async(self, field.selected("Team"), cx, path, seg, pend)
        }
    }
};

// ---- a union: `#[graph_union(context = Context)] enum Found {..}`; an interface's `..Value` is the same `match`

#[derive(GraphQLUnion)]
#[graphql(context = Context)]
pub(crate) enum Found {
    User(User<'static>),
    Team(Team),
}

const _: () = {
    use ::graph_core::executor::*;

    impl Output<Context> for Found {
        fn register(registry: &mut Registry) {
            <User<'static> as Output<Context>>::register(registry);
            <Team as Output<Context>>::register(registry);
        }

        fn write(&self, field: &Field, cx: &Cx<'_, Context>, path: &Path<'_>, out: &mut Vec<u8>) -> Flow {
            match self {
                Self::User(value) => value.write(field, cx, path, out),
                Self::Team(value) => value.write(field, cx, path, out),
            }
        }

        fn write_async<'p>(
            &'p self,
            field: &'p Field,
            cx: &'p Cx<'p, Context>,
            path: &Path<'_>,
            seg: &mut Seg,
            pend: &mut Pend<'p>,
        ) -> Flow {
            match self {
                Self::User(value) => value.write_async(field, cx, path, seg, pend),
                Self::Team(value) => value.write_async(field, cx, path, seg, pend),
            }
        }
    }
};

// ---- the query root, with a context parameter and a field that only juniper executes

/// An object without an attribute of ours.
#[derive(juniper::GraphQLObject)]
pub(crate) struct Legacy {
    year: i32,
}

pub(crate) struct Query;

#[graphql_object(context = Context)]
impl Query {
    fn answer(context: &Context) -> &i32 {
        context.host()
    }

    fn search() -> Vec<Found> {
        let user = |id| User { id, name: "Ada" };
        let team = Team {
            name: "core".to_owned(),
            members: vec![user(1), user(2)],
        };
        vec![Found::User(user(0)), Found::Team(team)]
    }

    /// `#[graph(plain)] fn legacy() -> Legacy`
    fn legacy() -> Legacy {
        Legacy { year: 1999 }
    }
}

const _: () = {
    use ::graph_core::executor::via::*;
    use ::graph_core::executor::*;

    impl Object<Context> for Query {
        const INFO: &'static TypeInfo = &TypeInfo {
            name: "Query",
            fields: &[
                FieldInfo {
                    name: "answer",
                    register: |registry| (&&&&&Tag::<&'static i32, Context>::NEW).register(registry),
                    ..FieldInfo::EMPTY
                },
                FieldInfo {
                    name: "search",
                    register: |registry| (&&&&&Tag::<Vec<Found>, Context>::NEW).register(registry),
                    ..FieldInfo::EMPTY
                },
                // no arm, nothing registered
                FieldInfo {
                    name: "legacy",
                    plain: true,
                    ..FieldInfo::EMPTY
                },
            ],
        };

        fn field(&self, field: &Field, cx: &Cx<'_, Context>, path: &Path<'_>, out: &mut Vec<u8>) -> Flow {
            match field.index() {
                0 => {
                    let value = Self::answer(::juniper::FromContext::from(cx.context()));
                    (&&&&&Tag::of(&value, cx)).emit(value, field, cx, path, out)
                }
                1 => {
                    let value = Self::search();
                    (&&&&&Tag::of(&value, cx)).emit(value, field, cx, path, out)
                }
                _ => no_such_field(field, cx),
            }
        }

        fn field_async<'p>(
            &'p self,
            field: &'p Field,
            cx: &'p Cx<'p, Context>,
            trail: Trail,
        ) -> BoxFuture<'p, SegResult> {
            match field.index() {
                0 => Box::pin(async move {
                    let value = Self::answer(::juniper::FromContext::from(cx.context()));
                    (&&&&&Tag::of(&value, cx))
                        .emit_async(value, field, cx, trail)
                        .await
                }),
                1 => Box::pin(async move {
                    let value = Self::search();
                    (&&&&&Tag::of(&value, cx))
                        .emit_async(value, field, cx, trail)
                        .await
                }),
                _ => no_such_future(field, cx),
            }
        }
    }
};

// ---- a subscription root: `#[graph_subscription(context = Context)] impl Subscription {..}`

type Joined = std::pin::Pin<Box<dyn Stream<Item = Result<User<'static>, GraphError>> + Send>>;

pub(crate) struct Subscription;

#[graphql_subscription(context = Context)]
impl Subscription {
    async fn joined(count: i32) -> Result<Joined, GraphError> {
        if count < 0 {
            return Err(GraphError::bad_user_input("`count` is negative"));
        }
        Ok(Box::pin(stream::iter(
            (1..=count).map(|id| Ok(User { id, name: "new" })),
        )))
    }
}

const _: () = {
    use ::graph_core::executor::via::*;
    use ::graph_core::executor::*;

    impl Source<Context> for Subscription {
        const INFO: &'static TypeInfo = &TypeInfo {
            name: "Subscription",
            fields: &[FieldInfo {
                name: "joined",
                is_async: true,
                args: &["count"],
                coerce: Some(|values| {
                    let arguments: (i32,) = (argument(values, 0)?,);
                    Ok(::std::sync::Arc::new(arguments))
                }),
                // the item of the stream
                register: |registry| {
                    (&&&&&Tag::<Result<User<'static>, GraphError>, Context>::NEW).register(registry);
                },
                ..FieldInfo::EMPTY
            }],
        };

        fn open<'p>(&'p self, field: &'p Field, cx: &'p Cx<'p, Context>) -> BoxFuture<'p, Opened<'p>> {
            match field.index() {
                0 => Box::pin(async move {
                    let arguments = cx.args::<(i32,)>(field)?;
                    let value = Self::joined(Clone::clone(&arguments.0)).await;
                    let events = (&&Tag::of(&value, cx)).stream(value, field, cx)?;
                    let events = StreamExt::then(events, move |value| async move {
                        (&&&&&Tag::of(&value, cx))
                            .emit_async(value, field, cx, Trail::ROOT)
                            .await
                    });
                    Ok(StreamExt::boxed(events))
                }),
                _ => no_such_stream(field, cx),
            }
        }
    }
};

fn engine() -> Engine<Query, EmptyMutation<Context>, Subscription> {
    let root = RootNode::new(Query, EmptyMutation::new(), Subscription);
    Engine::builder(root).build().unwrap()
}

async fn ask(query: &str) -> Value {
    json!(
        engine()
            .execute(&GraphRequest::new(query), &RequestContext::new(42))
            .await
    )
}

/// G1: what is emitted answers a query with everything in it, and gives every failure its place in the lists around it.
#[tokio::test]
async fn the_graph_written_by_hand_is_answered() {
    let query = "{ answer search { __typename
        ... on User { id mood friends(first: -1) { id } }
        ... on Team { name members { name friends { id name } } } } }";
    let answer = ask(query).await;
    assert_eq!(codes(&answer), ["BAD_USER_INPUT"]);
    assert_eq!(answer["data"], Value::Null);
    assert_eq!(answer["errors"][0]["path"], json!(["search", 0, "friends"]));
    let query = query.replace("first: -1", "first: 1");
    let friends = |id: i32| {
        let friends = (1..=2).map(|more| json!({ "id": (10 * id + more).to_string(), "name": "friend" }));
        json!({ "name": "Ada", "friends": friends.collect::<Vec<_>>() })
    };
    assert_eq!(
        ask(&query).await,
        json!({ "data": { "answer": 42, "search": [
            { "__typename": "User", "id": "0", "mood": "BAD", "friends": [{ "id": "1" }] },
            { "__typename": "Team", "name": "core", "members": [friends(1), friends(2)] },
        ] } })
    );
}

/// G15: a guard holds natively and where juniper executes the operation, with the same code.
#[tokio::test]
async fn a_guard_holds_whoever_executes() {
    for plain in ["", "legacy { year }"] {
        let query = format!("{{ {plain} search {{ ... on User {{ email }} }} }}");
        let answer = ask(&query).await;
        assert_eq!(answer["data"]["search"][0], json!({ "email": null }), "{query}");
        assert_eq!(codes(&answer), ["UNAUTHENTICATED"]);
        let ada =
            |scope: &str| RequestContext::new(1).with_principal(Principal::new("ada").with_scopes([scope]));
        let request = GraphRequest::new(query);
        let answer = json!(engine().execute(&request, &ada("read:other")).await);
        assert_eq!(codes(&answer), ["FORBIDDEN"]);
        let answer = json!(engine().execute(&request, &ada("read:email")).await);
        assert_eq!(answer["data"]["search"][0], json!({ "email": "0@example.com" }));
        assert!(answer.get("errors").is_none());
    }
}

/// G1: a field of a plain type of juniper's is answered, beside fields of ours.
#[tokio::test]
async fn a_plain_field_is_answered_by_juniper() {
    let answer = ask("{ answer legacy { year } }").await;
    assert_eq!(
        answer,
        json!({ "data": { "answer": 42, "legacy": { "year": 1999 } } })
    );
}

/// G10: what is emitted opens a stream.
#[tokio::test]
async fn the_subscription_written_by_hand_streams() {
    for (count, expected) in [(2, 2), (-1, 1)] {
        let request = GraphRequest::new(format!("subscription {{ new: joined(count: {count}) {{ id }} }}"));
        let events: Vec<_> = engine()
            .subscribe(request, RequestContext::new(1))
            .collect()
            .await;
        assert_eq!(events.len(), expected);
        if count > 0 {
            assert_eq!(json!(events[1]), json!({ "data": { "new": { "id": "2" } } }));
        } else {
            assert_eq!(codes(&json!(events[0])), ["BAD_USER_INPUT"]);
            assert!(events[0].is_request_error());
        }
    }
}
