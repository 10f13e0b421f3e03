//! The attribute `kit` of `host-ports-conformance`, which documents it.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Exports a macro that makes one test of each public function of the module; see
/// `host_ports_conformance::kit`.
#[proc_macro_attribute]
pub fn kit(name: TokenStream, module: TokenStream) -> TokenStream {
    let name = name.to_string();
    let cases = cases_of(module.clone());
    if name.is_empty() || cases.is_empty() {
        return r#"compile_error!("`#[kit(name)]` stands before a module with cases: `pub async fn name(store: &Arc<dyn Port>)`, or `pub fn`");"#
            .parse()
            .unwrap_or_default();
    }
    let mut expanded = module;
    expanded.extend(exported_macro(&name, &cases).parse::<TokenStream>());
    expanded
}

/// A test case of a kit.
struct Case {
    name: String,
    is_async: bool,
}

/// The `pub async fn` and `pub fn` items directly in the body of the module.
fn cases_of(module: TokenStream) -> Vec<Case> {
    let body = module.into_iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    });
    let words: Vec<String> = body
        .into_iter()
        .flatten()
        .map(|token| match token {
            TokenTree::Ident(word) => word.to_string(),
            _ => String::new(),
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let case = |name: &str, is_async| Case {
        name: name.to_owned(),
        is_async,
    };
    let cases = words.windows(4).filter_map(|window| match window {
        ["pub", "async", "fn", name] => Some(case(name, true)),
        ["pub", "fn", name, _] => Some(case(name, false)),
        _ => None,
    });
    cases.collect()
}

fn exported_macro(name: &str, cases: &[Case]) -> String {
    let tests: String = cases
        .iter()
        .map(|Case { name: case, is_async }| {
            let (asyncness, wait) = match is_async {
                true => ("async ", ".await"),
                false => ("", ""),
            };
            format!("$(#[$attribute])+ {asyncness}fn {case}() {{ $crate::{name}::{case}(&($crate::__store!($($store)+) as _)){wait}; }}\n")
        })
        .collect();
    format!(
        "/// Makes a test of each case: `{name}!(#[tokio::test] expression)`, or `#[test]` if no case is async.\n\
         ///\n\
         /// The expression makes an empty store and runs once per case.\n\
         /// Write `async {{ .. }}` if it awaits.\n\
         #[macro_export]\n\
         macro_rules! {name} {{ ($(#[$attribute:meta])+ $($store:tt)+) => {{\n{tests}}}; }}"
    )
}
