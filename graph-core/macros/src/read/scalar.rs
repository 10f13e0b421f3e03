//! Types that are recognized as scalars by their name.

use syn::{GenericArgument, PathArguments, Type, TypePath};

/// Returns `true` if `ty` is known to be a scalar, so that its selection cannot be asynchronous.
///
/// `false` is always safe: it only generates code that a scalar never runs.
pub(crate) fn is_scalar(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => is_scalar(&reference.elem),
        Type::Paren(inner) => is_scalar(&inner.elem),
        Type::Group(inner) => is_scalar(&inner.elem),
        Type::Slice(list) => is_scalar(&list.elem),
        Type::Array(list) => is_scalar(&list.elem),
        Type::Path(path) => is_scalar_path(path),
        _ => false,
    }
}

fn is_scalar_path(path: &TypePath) -> bool {
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    match last.ident.to_string().as_str() {
        "bool" | "f64" | "i32" | "str" | "String" | "ID" => true,
        "Arc" | "Box" | "Cow" | "FieldResult" | "Option" | "Result" | "Vec" => {
            first_argument(&last.arguments).is_some_and(is_scalar)
        }
        _ => false,
    }
}

/// `T` of `Name<'a, T, ..>`.
pub(crate) fn first_argument(arguments: &PathArguments) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_str;

    use super::*;

    #[test]
    fn scalars_are_known_by_their_words() {
        let scalars = [
            "i32",
            "&str",
            "&'static str",
            "juniper::ID",
            "Option<&[f64]>",
            "Vec<Option<bool>>",
            "Result<Option<String>, Error>",
            "Cow<'_, str>",
            "[i32; 3]",
        ];
        for scalar in scalars {
            assert!(is_scalar(&parse_str(scalar).unwrap()), "{scalar}");
        }
        for other in [
            "User",
            "Vec<User>",
            "Result<User, String>",
            "Page<i32>",
            "Option",
            "()",
            "&dyn Any",
        ] {
            assert!(!is_scalar(&parse_str(other).unwrap()), "{other}");
        }
    }
}
