//! The fields of a struct, and a union.

use juniper::GraphQLUnion;

use super::Context;
use super::user::User;

// ---- fields of a struct: `#[derive(GraphQLObject, GraphObject)]`

#[derive(juniper::GraphQLObject)]
#[graphql(context = Context)]
pub(crate) struct Team {
    pub(crate) name: String,
    pub(crate) members: Vec<User<'static>>,
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
