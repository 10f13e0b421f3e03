//! The floors: the response written by code that knows it in advance, without request, schema or
//! plan.

use serde::Serialize;

use crate::data::{Data, Post, Role, User};

/// Serializes with `serde_json` and `#[derive(Serialize)]`.
pub(crate) fn derived(data: &Data) -> Vec<u8> {
    #[derive(Serialize)]
    struct Envelope<'d> {
        data: &'d Data,
    }
    serde_json::to_vec(&Envelope { data }).expect("JSON")
}

/// Writes into one buffer by hand; strings are checked for escapes, although none is needed.
pub(crate) fn by_hand(data: &Data) -> Vec<u8> {
    let mut out = Vec::with_capacity(capacity(data));
    match data {
        Data::Ping { ping } => {
            out.extend_from_slice(br#"{"data":{"ping":"#);
            integer(&mut out, *ping);
        }
        Data::Users { users } => {
            out.extend_from_slice(br#"{"data":{"users":"#);
            list(&mut out, users, user);
        }
    }
    out.extend_from_slice(b"}}");
    out
}

fn capacity(data: &Data) -> usize {
    match data {
        Data::Ping { .. } => 32,
        Data::Users { users } => 64 + 400 * users.len(),
    }
}

fn user(out: &mut Vec<u8>, user: &User) {
    out.extend_from_slice(br#"{"id":"#);
    integer(out, user.id);
    out.extend_from_slice(br#","name":"#);
    string(out, &user.name);
    out.extend_from_slice(br#","email":"#);
    string(out, &user.email);
    out.extend_from_slice(br#","age":"#);
    integer(out, user.age);
    out.extend_from_slice(br#","role":"#);
    out.extend_from_slice(match user.role {
        Role::Admin => br#""ADMIN""#,
        Role::Member => br#""MEMBER""#,
    });
    if !user.posts.is_empty() {
        out.extend_from_slice(br#","posts":"#);
        list(out, &user.posts, post);
    }
    out.push(b'}');
}

fn post(out: &mut Vec<u8>, post: &Post) {
    out.extend_from_slice(br#"{"id":"#);
    integer(out, post.id);
    out.extend_from_slice(br#","title":"#);
    string(out, &post.title);
    out.extend_from_slice(br#","likes":"#);
    integer(out, post.likes);
    out.extend_from_slice(br#","author":{"id":"#);
    integer(out, post.author.id);
    out.extend_from_slice(br#","name":"#);
    string(out, &post.author.name);
    out.extend_from_slice(b"}}");
}

fn list<T>(out: &mut Vec<u8>, items: &[T], write: fn(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

fn integer(out: &mut Vec<u8>, value: i32) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

fn string(out: &mut Vec<u8>, text: &str) {
    let needs_escape = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    if text.as_bytes().iter().any(needs_escape) {
        serde_json::to_writer(&mut *out, text).expect("JSON");
        return;
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}
