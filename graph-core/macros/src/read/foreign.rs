//! Types of Rust that have no type in GraphQL.

use syn::spanned::Spanned;
use syn::{Type, TypePath};

use super::scalar::first_argument;

/// Refuses a type that is, or wraps, a primitive type or a tuple without a type in GraphQL.
///
/// Other types are judged by the compiler, because their names do not say what they are.
pub(crate) fn refuse(ty: &Type) -> syn::Result<()> {
    let remedy = match ty {
        Type::Reference(reference) => return refuse(&reference.elem),
        Type::Paren(inner) => return refuse(&inner.elem),
        Type::Group(inner) => return refuse(&inner.elem),
        Type::Slice(list) => return refuse(&list.elem),
        Type::Array(list) => return refuse(&list.elem),
        Type::Tuple(tuple) if tuple.elems.is_empty() => NOTHING,
        Type::Tuple(_) => "GraphQL has no tuples: write a struct with `#[derive(GraphObject)]`",
        Type::Path(path) => return refuse_path(path),
        _ => return Ok(()),
    };
    Err(syn::Error::new(ty.span(), remedy))
}

/// Remedy for a resolver that returns nothing.
pub(crate) const NOTHING: &str =
    "a field has a value: write `-> bool`, or return the object that the resolver changed";

fn refuse_path(path: &TypePath) -> syn::Result<()> {
    let Some(last) = path.path.segments.last() else {
        return Ok(());
    };
    let name = last.ident.to_string();
    if matches!(
        name.as_str(),
        "Arc" | "Box" | "FieldResult" | "Option" | "Result" | "Vec"
    ) {
        return first_argument(&last.arguments).map_or(Ok(()), refuse);
    }
    let remedy = match name.as_str() {
        "i8" | "i16" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => {
            "`Int` is `i32`: write `i32`, or for larger numbers `f64`, `String` or a scalar of your own"
        }
        "f32" => "`Float` is `f64`: write `f64`",
        "char" => "`String` is `String`: write `String`",
        _ => return Ok(()),
    };
    match path.path.get_ident() {
        Some(_) => Err(syn::Error::new(
            path.span(),
            format!("`{name}` is no type of GraphQL; {remedy}"),
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_str;

    use super::*;

    #[test]
    fn primitives_are_refused_at_any_depth() {
        for refused in [
            "u64",
            "Option<Vec<usize>>",
            "Result<f32, Error>",
            "&[char]",
            "()",
            "(i32, bool)",
        ] {
            assert!(refuse(&parse_str(refused).unwrap()).is_err(), "{refused}");
        }
        for other in [
            "i32",
            "Option<f64>",
            "Page<u64>",
            "bignum::u64",
            "HashMap<i32, u64>",
            "Result",
        ] {
            assert!(refuse(&parse_str(other).unwrap()).is_ok(), "{other}");
        }
    }
}
