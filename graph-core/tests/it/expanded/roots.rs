//! The roots: a context, a field that only juniper executes, and a stream.

use futures_util::stream::{self, Stream};
use graph_core::GraphError;
use juniper::{graphql_object, graphql_subscription};

use super::Context;
use super::found::{Found, Team};
use super::user::User;

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
