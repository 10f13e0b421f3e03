//! Runs the complete introspection query when the engine is built.

use juniper::meta::MetaType;
use juniper::{
    ArcStr, EmptyMutation, EmptySubscription, GraphQLType, GraphQLValue, IntrospectionFormat, Registry,
    RootNode,
};

use super::Scalar;

/// Query root without fields, named like the host's.
struct Stub;

impl GraphQLType<Scalar> for Stub {
    fn name(info: &ArcStr) -> Option<ArcStr> {
        Some(info.clone())
    }

    fn meta(info: &ArcStr, registry: &mut Registry<Scalar>) -> MetaType<Scalar> {
        registry.build_object_type::<Self>(info, &[]).into_meta()
    }
}

impl GraphQLValue<Scalar> for Stub {
    type Context = ();
    type TypeInfo = ArcStr;

    fn type_name(&self, info: &ArcStr) -> Option<ArcStr> {
        Some(info.clone())
    }

    fn concrete_type_name(&self, (): &(), info: &ArcStr) -> String {
        info.to_string()
    }
}

/// Returns the root node and its complete introspection result.
pub(crate) fn introspected<Q, M, S>(root: RootNode<Q, M, S>) -> (RootNode<Q, M, S>, serde_json::Value)
where
    Q: GraphQLType<Scalar>,
    M: GraphQLType<Scalar>,
    S: GraphQLType<Scalar>,
{
    let name = root.schema.concrete_query_type().name().cloned();
    let stub = RootNode {
        query_type: Stub,
        query_info: name.unwrap_or_default(),
        mutation_type: EmptyMutation::<()>::new(),
        mutation_info: (),
        subscription_type: EmptySubscription::<()>::new(),
        subscription_info: (),
        schema: root.schema,
        introspection_disabled: false,
    };
    let answered = juniper::introspect(&stub, &(), IntrospectionFormat::All);
    let answer = answered
        .ok()
        .and_then(|(value, _)| serde_json::to_value(value).ok());
    let root = RootNode {
        query_type: root.query_type,
        query_info: root.query_info,
        mutation_type: root.mutation_type,
        mutation_info: root.mutation_info,
        subscription_type: root.subscription_type,
        subscription_info: root.subscription_info,
        schema: stub.schema,
        introspection_disabled: root.introspection_disabled,
    };
    (root, answer.unwrap_or_default())
}
