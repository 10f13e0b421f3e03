//! An object with a lifetime, arguments, a field that waits and a guard.

use graph_core::GraphError;
use juniper::{FieldError, GraphQLEnum, ID, graphql_object};

use super::Context;

/// A leaf of juniper's, without an attribute of ours.
#[derive(Clone, Copy, GraphQLEnum)]
pub(crate) enum Mood {
    Good,
    Bad,
}

// ---- an object: `#[graph_object(context = Context)] impl User<'_> {..}`

pub(crate) struct User<'a> {
    pub(crate) id: i32,
    pub(crate) name: &'a str,
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
