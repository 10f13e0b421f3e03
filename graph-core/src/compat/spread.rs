//! Workaround for a panic of juniper when a guard refuses a subscription field inside a named
//! fragment.
//!
//! juniper assumes that a named fragment at the root of a subscription resolves to an object. A
//! refused field makes the fragment null. juniper records the error, but then panics and loses it.
//! The engine wraps the host's subscription root and replaces that null by an empty object, as
//! juniper does for inline fragments.

use juniper::meta::MetaType;
use juniper::{
    ArcStr, Arguments, BoxFuture, Executor, FieldError, GraphQLSubscriptionType, GraphQLSubscriptionValue,
    GraphQLType, GraphQLValue, Object, Registry, RootNode, Value, ValuesStream,
};

use super::Scalar;

/// Wrapper of the host's subscription root.
pub(crate) struct Spreadable<S>(S);

impl<S> Spreadable<S> {
    /// Returns the host's root.
    pub(crate) fn root(&self) -> &S {
        &self.0
    }
}

/// Wraps the subscription root of a schema in [`Spreadable`].
pub(crate) fn spreadable<Q, M, S>(root: RootNode<Q, M, S>) -> RootNode<Q, M, Spreadable<S>>
where
    Q: GraphQLType<Scalar>,
    M: GraphQLType<Scalar>,
    S: GraphQLType<Scalar>,
{
    RootNode {
        query_type: root.query_type,
        query_info: root.query_info,
        mutation_type: root.mutation_type,
        mutation_info: root.mutation_info,
        subscription_type: Spreadable(root.subscription_type),
        subscription_info: root.subscription_info,
        schema: root.schema,
        introspection_disabled: root.introspection_disabled,
    }
}

impl<S: GraphQLType<Scalar>> GraphQLType<Scalar> for Spreadable<S> {
    fn name(info: &S::TypeInfo) -> Option<ArcStr> {
        S::name(info)
    }

    fn meta(info: &S::TypeInfo, registry: &mut Registry<Scalar>) -> MetaType<Scalar> {
        S::meta(info, registry)
    }
}

impl<S: GraphQLType<Scalar>> GraphQLValue<Scalar> for Spreadable<S> {
    type Context = S::Context;
    type TypeInfo = S::TypeInfo;

    fn type_name(&self, info: &S::TypeInfo) -> Option<ArcStr> {
        self.0.type_name(info)
    }
}

impl<S> GraphQLSubscriptionValue<Scalar> for Spreadable<S>
where
    S: GraphQLSubscriptionType<Scalar>,
    S::Context: Sync,
    S::TypeInfo: Sync,
{
    fn resolve_field_into_stream<'s, 'i, 'ft, 'args, 'e, 'ref_e, 'res, 'f>(
        &'s self,
        info: &'i S::TypeInfo,
        name: &'ft str,
        arguments: Arguments<'args, Scalar>,
        executor: &'ref_e Executor<'ref_e, 'e, S::Context, Scalar>,
    ) -> BoxFuture<'f, Result<Value<ValuesStream<'res, Scalar>>, FieldError<Scalar>>>
    where
        's: 'f,
        'i: 'res,
        'ft: 'f,
        'args: 'f,
        'ref_e: 'f,
        'res: 'f,
        'e: 'res,
    {
        self.0.resolve_field_into_stream(info, name, arguments, executor)
    }

    /// Resolves a named fragment on the root. The subscription root is an object, so the fragment
    /// has the root's own type.
    fn resolve_into_type_stream<'s, 'i, 'tn, 'e, 'ref_e, 'res, 'f>(
        &'s self,
        info: &'i S::TypeInfo,
        _type_name: &'tn str,
        executor: &'ref_e Executor<'ref_e, 'e, S::Context, Scalar>,
    ) -> BoxFuture<'f, Result<Value<ValuesStream<'res, Scalar>>, FieldError<Scalar>>>
    where
        'i: 'res,
        'e: 'res,
        's: 'f,
        'tn: 'f,
        'ref_e: 'f,
        'res: 'f,
    {
        Box::pin(async move {
            let selected = self.resolve_into_stream(info, executor).await?;
            Ok(match selected {
                Value::Null => Value::Object(Object::with_capacity(0)),
                selected => selected,
            })
        })
    }
}
