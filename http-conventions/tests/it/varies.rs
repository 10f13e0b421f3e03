//! `Vary` of a response.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use http_conventions::caching::Vary;

fn applied(before: &[&str], vary: &Vary) -> Vec<String> {
    let mut headers = HeaderMap::new();
    for line in before {
        headers.append(header::VARY, HeaderValue::from_str(line).unwrap());
    }
    vary.apply(&mut headers);
    let lines = headers.get_all(header::VARY).iter();
    lines.map(|line| line.to_str().unwrap().to_owned()).collect()
}

/// H9: Vary lists each evaluated field once, whatever its case, merged with that of the handler;
/// `*` replaces all names.
#[test]
fn vary_is_merged_with_what_is_there() {
    let mut vary = Vary::default();
    assert_eq!((vary.header_value(), vary.is_empty()), (None, true));
    assert_eq!(applied(&["Cookie"], &vary), ["Cookie"]);

    vary.add(header::ORIGIN);
    vary.add(header::ORIGIN);
    vary.add(HeaderName::from_static("x-tenant"));
    vary.add(HeaderName::from_static("x-tenant"));
    assert_eq!(vary.header_value().unwrap(), "origin, x-tenant");
    assert_eq!(applied(&[], &vary), ["origin, x-tenant"]);
    assert_eq!(
        applied(&["Origin, Cookie", "x-TENANT"], &vary),
        ["Origin, Cookie, x-TENANT"]
    );
    assert_eq!(applied(&["cookie", "*"], &vary), ["*"]);

    let mut other = Vary::default();
    other.add(header::ACCEPT);
    other.extend(&vary);
    assert_eq!(other.header_value().unwrap(), "accept, origin, x-tenant");
    assert_eq!(applied(&["cookie"], &Vary::any()), ["*"]);
    other.extend(&Vary::any());
    assert_eq!(other.header_value().unwrap(), "*");
}
