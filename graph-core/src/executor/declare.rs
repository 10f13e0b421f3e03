//! Declaration of types in juniper's registry, from their tables.

use juniper::meta::{DeprecationStatus, Field, InterfaceMeta, MetaType, ObjectMeta, UnionMeta};
use juniper::{DefaultScalarValue, Registry};

use super::handle::TypeHandle;
use super::table::{FieldInfo, TypeInfo};

/// Declares an object type or a subscription root.
pub fn declare_object(info: &TypeInfo, registry: &mut Registry) -> MetaType<DefaultScalarValue> {
    let fields = fields(info.fields, registry);
    let mut meta = ObjectMeta::new(info.name, &fields);
    if let Some(description) = info.description {
        meta = meta.description(description);
    }
    meta.interfaces(&types(info.interfaces, registry)).into_meta()
}

/// Declares an interface.
pub fn declare_interface(info: &TypeInfo, registry: &mut Registry) -> MetaType<DefaultScalarValue> {
    types(info.members, registry);
    let fields = fields(info.fields, registry);
    let mut meta = InterfaceMeta::new(info.name, &fields);
    if let Some(description) = info.description {
        meta = meta.description(description);
    }
    meta.interfaces(&types(info.interfaces, registry)).into_meta()
}

/// Declares a union.
pub fn declare_union(info: &TypeInfo, registry: &mut Registry) -> MetaType<DefaultScalarValue> {
    let mut meta = UnionMeta::new(info.name, &types(info.members, registry));
    if let Some(description) = info.description {
        meta = meta.description(description);
    }
    meta.into_meta()
}

fn types(handles: &[TypeHandle], registry: &mut Registry) -> Vec<juniper::Type> {
    handles.iter().map(|handle| handle.declare(registry)).collect()
}

/// Declares the fields, and the field `__typename` that juniper expects in its metadata.
fn fields(fields: &[FieldInfo], registry: &mut Registry) -> Vec<Field<DefaultScalarValue>> {
    let mut declared: Vec<_> = fields
        .iter()
        .map(|field| declare_field(field, registry))
        .collect();
    declared.push(registry.field::<String>("__typename", &()));
    declared
}

fn declare_field(info: &FieldInfo, registry: &mut Registry) -> Field<DefaultScalarValue> {
    let field_type = (info.ty)().declare(registry);
    let arguments = (info.declare)(registry);
    Field {
        name: info.name.into(),
        description: info.description.map(Into::into),
        arguments: (!arguments.is_empty()).then_some(arguments),
        field_type,
        deprecation_status: match info.deprecated {
            Some(reason) => DeprecationStatus::Deprecated(reason.map(Into::into)),
            None => DeprecationStatus::Current,
        },
    }
}
