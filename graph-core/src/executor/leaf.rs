//! Built-in scalars.

use std::borrow::Cow;

use juniper::ID;

use super::output::Output;
use super::plan::Field;
use super::table::Registry;
use super::write;
use super::{Execution, Path, WriteResult};
use crate::error::GraphError;

macro_rules! leaves {
    ($($leaf:ty: $value:ident, $out:ident => $write:expr;)*) => {$(
        impl<C> Output<C> for $leaf {
            type Anchor = ();

            fn register(_: &mut Registry) {}

            #[inline]
            fn write(&self, _: &Field, _: &Execution<'_, C>, _: &Path<'_>, $out: &mut Vec<u8>) -> WriteResult {
                let $value = self;
                $write;
                Ok(())
            }
        }
    )*};
}

leaves! {
    str: value, out => write::string(value, out);
    String: value, out => write::string(value, out);
    Cow<'_, str>: value, out => write::string(value, out);
    ID: value, out => write::string(value, out);
    i32: value, out => write::integer(*value, out);
    bool: value, out => out.extend_from_slice(if *value { b"true" } else { b"false" });
}

/// A number without a JSON form (NaN, infinity) fails the field, see
/// [Float](https://spec.graphql.org/September2025/#sec-Float).
impl<C> Output<C> for f64 {
    type Anchor = ();

    fn register(_: &mut Registry) {}

    #[inline]
    fn write(&self, field: &Field, cx: &Execution<'_, C>, path: &Path<'_>, out: &mut Vec<u8>) -> WriteResult {
        if write::float(*self, out) {
            return Ok(());
        }
        let error = GraphError::internal(format_args!("{self} has no JSON form"));
        Err(cx.record_failure(field, path.list_indices(), error))
    }
}

/// Records an enum value that is hidden from the schema by `#[graphql(ignore)]`.
///
/// # Errors
///
/// Always.
#[cold]
pub fn no_such_value<C>(field: &Field, cx: &Execution<'_, C>, path: &Path<'_>) -> WriteResult {
    let error = GraphError::internal("the schema does not have this value of the enum");
    Err(cx.record_failure(field, path.list_indices(), error))
}
