//! The attribute `kit` of `host-ports-conformance`, which documents it.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Exports a macro that makes one test of each `pub async fn` of the module; see `host_ports_conformance::kit`.
#[proc_macro_attribute]
pub fn kit(name: TokenStream, module: TokenStream) -> TokenStream {
    let name = name.to_string();
    let cases = cases_of(module.clone());
    if name.is_empty() || cases.is_empty() {
        return r#"compile_error!("`#[kit(name)]` stands before a module with cases: `pub async fn name(store: &Arc<dyn Port>)`");"#
            .parse()
            .unwrap_or_default();
    }
    let mut expanded = module;
    expanded.extend(exported_macro(&name, &cases).parse::<TokenStream>());
    expanded
}

/// The names of the `pub async fn` that stand directly in the body of the module.
fn cases_of(module: TokenStream) -> Vec<String> {
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
    let cases = words.windows(4).filter_map(|window| match window {
        [visibility, asyncness, keyword, name]
            if visibility == "pub" && asyncness == "async" && keyword == "fn" =>
        {
            Some(name.clone())
        }
        _ => None,
    });
    cases.collect()
}

fn exported_macro(name: &str, cases: &[String]) -> String {
    let tests: String = cases
        .iter()
        .map(|case| {
            format!("$(#[$attribute])+ async fn {case}() {{ $crate::{name}::{case}(&($crate::__store!($($store)+) as _)).await; }}\n")
        })
        .collect();
    format!(
        "/// Makes a test of each case: `{name}!(#[tokio::test] expression)`. The expression makes an empty store and runs once\n\
         /// per case; write `async {{ .. }}` where making a store takes an `await`.\n\
         #[macro_export]\n\
         macro_rules! {name} {{ ($(#[$attribute:meta])+ $($store:tt)+) => {{\n{tests}}}; }}"
    )
}
