//! The vendored browser libraries: files, checksums, licences and how they are served.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::browser::{Browser, text};
use crate::desk::{ask, header, open, request};

/// Maximum number of bytes of the files that a browser runs or shows.
const MOST: usize = 6_000_000;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/vendor")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

/// Vendored files by name.
fn files() -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder().join("files")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let named = paths.map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(&path).unwrap())
    });
    named.collect()
}

fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let (head, tail) = digits.split_at(digits.len() % 3);
    let groups = tail
        .as_bytes()
        .chunks(3)
        .map(|group| std::str::from_utf8(group).unwrap());
    let groups = (!head.is_empty()).then_some(head).into_iter().chain(groups);
    groups.collect::<Vec<_>>().join(",")
}

/// X9: the vendored files are those of the checksums, and no others.
#[test]
fn vendored_files_match_their_checksums() {
    let found: String = files()
        .iter()
        .map(|(name, content)| {
            let digest = Sha256::digest(content);
            let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{digest}  {name}\n")
        })
        .collect();
    assert_eq!(read("checksums"), found);
}

/// X9: the vendored files have at most 6 MB, and the README states the size of each.
#[test]
fn vendored_files_are_small_and_listed() {
    let readme = read("README.md");
    let mut sum = 0;
    for (name, content) in files() {
        let row = format!("| `files/{name}` | {} |", grouped(content.len()));
        assert!(readme.contains(&row), "{row}");
        if name != "LICENCES.txt" {
            sum += content.len();
        }
    }
    assert!(sum <= MOST, "{sum}");
    assert!(
        readme.contains(&format!("| together | {} |", grouped(sum))),
        "{sum}"
    );
}

/// X9: each package that is installed by name has a hash in the lock file and a licence beside it.
#[test]
fn vendored_packages_have_hashes_and_licences() {
    let wanted: Value = serde_json::from_str(&read("package.json")).unwrap();
    let locked: Value = serde_json::from_str(&read("package-lock.json")).unwrap();
    let licences = read("files/LICENCES.txt");
    for (name, version) in wanted["devDependencies"].as_object().unwrap() {
        let package = &locked["packages"][format!("node_modules/{name}")];
        assert_eq!(package["version"], *version, "{name}");
        assert!(
            package["integrity"].as_str().unwrap().starts_with("sha512-"),
            "{name}"
        );
        // the bundler itself is not in a bundle
        if name != "esbuild" {
            let entry = format!("{name} {} (MIT)", version.as_str().unwrap());
            assert!(licences.contains(&entry), "{entry}");
        }
    }
}

/// X9: vendored files evaluate no text as code, except where Redoc asks for the global object.
#[test]
fn graphiql_evaluates_no_text() {
    for name in ["graphiql.js", "worker.js"] {
        let script = read(&format!("files/{name}"));
        for word in ["new Function(", "eval(", "Function(\"return"] {
            assert!(!script.contains(word), "{name}: {word}");
        }
    }
}

/// X9: the paths of vendored files change with their content, so that caches keep them for good.
#[tokio::test]
async fn vendored_files_are_kept_by_caches() {
    let app = open().await;
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    let page = text(&browser.get("/console/explorer").await);
    let path = page
        .split("data-vendor=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    for (name, content_type) in [
        ("graphiql.js", "text/javascript; charset=utf-8"),
        ("graphiql.css", "text/css; charset=utf-8"),
        ("worker.js", "text/javascript; charset=utf-8"),
        ("codicon.ttf", "font/ttf"),
        ("redoc.js", "text/javascript; charset=utf-8"),
        ("LICENCES.txt", "text/plain; charset=utf-8"),
    ] {
        let file = ask(&app, request("GET", &format!("{path}/{name}"), &[], "")).await;
        assert_eq!(file.status(), 200, "{name}");
        let headers = file.headers();
        assert_eq!(header(headers, "content-type"), content_type);
        assert_eq!(
            header(headers, "cache-control"),
            "public, max-age=31536000, immutable"
        );
        assert_eq!(header(headers, "x-content-type-options"), "nosniff");
        assert_eq!(*file.body(), files()[name]);
        let tag = header(headers, "etag");
        let target = format!("{path}/{name}");
        let again = ask(&app, request("GET", &target, &[("if-none-match", tag)], "")).await;
        assert_eq!((again.status().as_u16(), again.body().len()), (304, 0));
    }
    let target = format!("{path}/worker.js");
    let packed = ask(&app, request("GET", &target, &[("accept-encoding", "gzip")], "")).await;
    assert_eq!(header(packed.headers(), "content-encoding"), "gzip");
    for unknown in [
        "/assets/vendor/0000000000000000/worker.js",
        &format!("{path}/checksums"),
    ] {
        assert_eq!(ask(&app, request("GET", unknown, &[], "")).await.status(), 404);
    }
}
