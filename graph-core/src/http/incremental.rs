//! Deferred fragments over `multipart/mixed`.
//!
//! With [`with_incremental_delivery`], the schema has the directive
//! `@defer(if: Boolean! = true, label: String)` for fragments. [`Engine::respond`] then sends the
//! fields of a deferred fragment in a later part, if `Accept` has one of these ranges:
//!
//! | range | format | clients |
//! |---|---|---|
//! | `multipart/mixed;deferSpec=20220824` | `incremental` with `path` | Apollo Client 3; Apollo Client 4 with `Defer20220824Handler`; Relay, by a network layer |
//! | `multipart/mixed;incrementalSpec=v0.2` | `pending`, `incremental` with `id`, `completed`: the payloads of graphql-js 17.1.0 | Apollo Client 4 with `GraphQL17Alpha9Handler` |
//!
//! Any other client gets one response, as if the operation had no `@defer`. This also applies to
//! batches, server-sent events and WebSocket, and if no fragment is deferred while the operation
//! runs. `@stream` is not supported.
//!
//! # Semantics
//!
//! - A field that is also selected outside of the deferred fragment is in the first part.
//! - No resolver runs twice, and a field of several deferred fragments is sent once. A fragment
//!   whose fields are all sent is not announced.
//! - The fields of a fragment start when the first part is sent. A fragment inside another one is
//!   sent after it.
//! - If a failure propagates to the object of a fragment, the fragment fails and the rest of the
//!   response stays. Fragments inside it are not sent. Apollo's format then has `"data": null`,
//!   which Apollo Client 3 writes over the object; Apollo Client 4 keeps the object.
//! - The deadline, the limit of response bytes and the limits of the operation count all parts
//!   together. Each fragment of an object counts as 128 bytes, its path and its label, in addition
//!   to its data.
//! - Dropping the response stops the rest of the operation.
//!
//! # Performance
//!
//! The values of the objects around a fragment stay in memory until the fragment is complete. The
//! next fields run when the host has taken the previous part, so a slow client keeps them longer.
//!
//! [`with_incremental_delivery`]: crate::engine::EngineBuilder::with_incremental_delivery
//! [`Engine::respond`]: crate::Engine::respond

use std::collections::HashMap;

use serde::Serialize;

use crate::executor::deferred::Deferral;
use crate::executor::plan::Plan;
use crate::response::{GraphResponse, PathSegment, ResponseError};

/// Content type of [`DeferFormat::Apollo`].
pub(super) const APOLLO: &str = "multipart/mixed;boundary=graphql;deferSpec=20220824";

/// Content type of [`DeferFormat::GraphqlJs`].
pub(super) const GRAPHQL_JS: &str = "multipart/mixed;boundary=graphql;incrementalSpec=v0.2";

/// Format of the payloads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DeferFormat {
    /// Draft of the specification from 2022-08-24.
    Apollo,
    /// Payloads of graphql-js 17.
    GraphqlJs,
}

impl DeferFormat {
    /// Parameter of the media type.
    pub(super) const fn parameter(self) -> (&'static str, &'static str) {
        match self {
            Self::Apollo => ("deferSpec", "20220824"),
            Self::GraphqlJs => ("incrementalSpec", "v0.2"),
        }
    }
}

/// Deferred fragment of one object.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Fragment {
    /// Index into [`Plan::fragments`].
    index: u32,
    /// List indices of the object.
    indices: Vec<u32>,
}

#[derive(Debug, Default)]
struct FragmentState {
    /// `None` until the fragments around it are complete.
    id: Option<usize>,
    groups: Vec<Deferral>,
    /// Groups that are not complete.
    waiting: usize,
    failure: Option<Vec<ResponseError>>,
    /// Fragments that are announced when this one is complete.
    inside: Vec<Fragment>,
    end: Option<End>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Complete,
    Failed,
}

/// Deferred group of one object.
#[derive(Debug)]
struct GroupState {
    fragments: Vec<Fragment>,
    /// Result until it is sent.
    result: Option<(Vec<u8>, Vec<ResponseError>)>,
}

/// Writes the payloads from the parts of an execution.
#[derive(Debug)]
pub(crate) struct Publisher<'p> {
    plan: &'p Plan,
    format: DeferFormat,
    fragments: HashMap<Fragment, FragmentState>,
    groups: HashMap<Deferral, GroupState>,
    /// Number of announced fragments.
    announced: usize,
    /// Number of announced fragments that are not complete.
    open: usize,
    next: Lists,
}

/// Lists of the next payload: JSON values with commas between them.
#[derive(Debug, Default)]
struct Lists {
    pending: Vec<u8>,
    incremental: Vec<u8>,
    completed: Vec<u8>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Pending<'a> {
    id: String,
    path: &'a [PathSegment],
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
}

#[derive(Serialize)]
struct Completed<'a> {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<&'a [ResponseError]>,
}

impl<'p> Publisher<'p> {
    pub(crate) fn new(plan: &'p Plan, format: DeferFormat) -> Self {
        Self {
            plan,
            format,
            fragments: HashMap::new(),
            groups: HashMap::new(),
            announced: 0,
            open: 0,
            next: Lists::default(),
        }
    }

    /// Writes the first payload; `inside` are the deferred groups of its objects.
    pub(crate) fn first(&mut self, response: GraphResponse, inside: Vec<Deferral>) -> Vec<u8> {
        self.expect(inside);
        let mut out = response.into_json().to_vec();
        out.pop();
        let next = std::mem::take(&mut self.next);
        if self.format == DeferFormat::GraphqlJs {
            out.push(b',');
            list("pending", &next.pending, &mut out);
        }
        out.extend_from_slice(b",\"hasNext\":true}");
        out
    }

    /// Adds the result of a deferred group; `data` is `None` if a failure propagated to its object.
    pub(crate) fn add(
        &mut self,
        group: &Deferral,
        data: Option<Vec<u8>>,
        inside: Vec<Deferral>,
        errors: Vec<ResponseError>,
    ) {
        self.expect(inside);
        let Some(state) = self.groups.get_mut(group) else {
            return;
        };
        let fragments = state.fragments.clone();
        let failure = match data {
            Some(data) => {
                state.result = Some((data, errors));
                None
            }
            None => Some(errors),
        };
        for fragment in fragments {
            if let Some(state) = self.fragments.get_mut(&fragment) {
                state.waiting = state.waiting.saturating_sub(1);
                if state.failure.is_none() {
                    state.failure.clone_from(&failure);
                }
            }
            self.finish(&fragment);
        }
    }

    /// Fails all fragments that are not complete.
    pub(crate) fn fail(&mut self, errors: &[ResponseError]) {
        let announced = self.fragments.iter().filter_map(|(fragment, state)| {
            let id = state.id.filter(|_| state.end.is_none())?;
            Some((id, fragment.clone()))
        });
        let mut announced: Vec<_> = announced.collect();
        announced.sort_unstable_by_key(|(id, _)| *id);
        for (_, fragment) in announced {
            if let Some(state) = self.fragments.get_mut(&fragment) {
                state.failure.get_or_insert_with(|| errors.to_vec());
            }
            self.finish(&fragment);
        }
    }

    /// Returns `true` if no announced fragment is missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.open == 0
    }

    /// Writes the next payload; `None` if there is nothing to send.
    pub(crate) fn payload(&mut self) -> Option<Vec<u8>> {
        let next = std::mem::take(&mut self.next);
        let lists = match self.format {
            DeferFormat::Apollo => vec![("incremental", next.incremental)],
            DeferFormat::GraphqlJs => vec![
                ("pending", next.pending),
                ("incremental", next.incremental),
                ("completed", next.completed),
            ],
        };
        let mut out = vec![b'{'];
        for (name, entries) in lists {
            if !entries.is_empty() {
                list(name, &entries, &mut out);
                out.push(b',');
            }
        }
        if out.len() == 1 && !self.is_complete() {
            return None;
        }
        let has_next: &[u8] = if self.is_complete() {
            b"\"hasNext\":false}"
        } else {
            b"\"hasNext\":true}"
        };
        out.extend_from_slice(has_next);
        Some(out)
    }

    /// Registers deferred groups, and announces their fragments unless these are inside others.
    fn expect(&mut self, groups: Vec<Deferral>) {
        let mut found = Vec::new();
        for group in groups {
            let fragments = self.fragments_of(&group);
            for fragment in &fragments {
                let state = self.fragments.entry(fragment.clone()).or_insert_with(|| {
                    found.push(fragment.clone());
                    FragmentState::default()
                });
                state.groups.push(group.clone());
                state.waiting += 1;
            }
            let state = GroupState {
                fragments,
                result: None,
            };
            self.groups.insert(group, state);
        }
        for fragment in found {
            match self.around(&fragment) {
                None => self.announce(&fragment),
                Some(around) => {
                    let Some(state) = self.fragments.get_mut(&around) else {
                        continue;
                    };
                    match state.end {
                        None => state.inside.push(fragment),
                        Some(End::Complete) => self.announce(&fragment),
                        Some(End::Failed) => self.discard(&fragment),
                    }
                }
            }
        }
    }

    fn fragments_of(&self, group: &Deferral) -> Vec<Fragment> {
        let plan = usize::try_from(group.group).ok();
        let plan = plan.and_then(|at| self.plan.deferred.get(at));
        let fragments = plan.map_or(&[][..], |plan| &plan.fragments);
        let fragments = fragments.iter();
        fragments
            .filter_map(|index| self.fragment(*index, group.indices.as_slice()))
            .collect()
    }

    /// Fragment around the object with `indices`.
    fn fragment(&self, index: u32, indices: &[u32]) -> Option<Fragment> {
        let plan = self.plan.fragments.get(usize::try_from(index).ok()?)?;
        let indices = indices.get(..usize::try_from(plan.lists).ok()?)?.to_vec();
        Some(Fragment { index, indices })
    }

    /// Nearest fragment around `fragment` that has fields of its own.
    fn around(&self, fragment: &Fragment) -> Option<Fragment> {
        let parent = |index: u32| self.plan.fragments.get(usize::try_from(index).ok()?)?.parent;
        let mut parents = std::iter::successors(parent(fragment.index), |index| parent(*index));
        parents.find_map(|index| {
            let around = self.fragment(index, &fragment.indices)?;
            self.fragments.contains_key(&around).then_some(around)
        })
    }

    /// Announces a fragment; or those inside it, if all of its fields are sent.
    fn announce(&mut self, fragment: &Fragment) {
        let is_sent = self.is_sent(fragment);
        let Some(state) = self.fragments.get_mut(fragment) else {
            return;
        };
        if is_sent {
            state.end = Some(End::Complete);
            for fragment in &std::mem::take(&mut state.inside) {
                self.announce(fragment);
            }
            return;
        }
        let id = self.announced;
        state.id = Some(id);
        self.announced += 1;
        self.open += 1;
        let (label, path) = self.label_and_path(fragment);
        let pending = Pending {
            id: id.to_string(),
            path: &path,
            label,
        };
        entry(&pending, &mut self.next.pending);
        self.finish(fragment);
    }

    /// Returns `true` if other fragments have sent all groups of `fragment`.
    fn is_sent(&self, fragment: &Fragment) -> bool {
        let is_waiting = |group| self.groups.get(group).is_some_and(|state| state.result.is_some());
        self.fragments.get(fragment).is_some_and(|state| {
            state.waiting == 0 && state.failure.is_none() && !state.groups.iter().any(is_waiting)
        })
    }

    /// Sends an announced fragment if it has failed or all its groups are complete.
    fn finish(&mut self, fragment: &Fragment) {
        let Some(state) = self.fragments.get_mut(fragment) else {
            return;
        };
        let (Some(id), None) = (state.id, state.end) else {
            return;
        };
        if let Some(errors) = state.failure.take() {
            state.end = Some(End::Failed);
            let inside = std::mem::take(&mut state.inside);
            self.open -= 1;
            self.write_failure(fragment, id, &errors);
            for fragment in &inside {
                self.discard(fragment);
            }
            return;
        }
        if state.waiting > 0 {
            return;
        }
        let groups = std::mem::take(&mut state.groups);
        let inside = std::mem::take(&mut state.inside);
        for group in groups {
            let result = self.groups.get_mut(&group).and_then(|state| state.result.take());
            if let Some((data, errors)) = result {
                self.write_data(fragment, &group, &data, &errors);
            }
        }
        if let Some(state) = self.fragments.get_mut(fragment) {
            state.end = Some(End::Complete);
        }
        self.open -= 1;
        let completed = Completed {
            id: id.to_string(),
            errors: None,
        };
        entry(&completed, &mut self.next.completed);
        for fragment in &inside {
            self.announce(fragment);
        }
    }

    /// Marks fragments that are not sent, because a fragment around them has failed.
    fn discard(&mut self, fragment: &Fragment) {
        let mut discarded = vec![fragment.clone()];
        while let Some(fragment) = discarded.pop() {
            if let Some(state) = self.fragments.get_mut(&fragment) {
                state.end = Some(End::Failed);
                discarded.append(&mut state.inside);
            }
        }
    }

    fn write_failure(&mut self, fragment: &Fragment, id: usize, errors: &[ResponseError]) {
        let completed = Completed {
            id: id.to_string(),
            errors: Some(errors),
        };
        entry(&completed, &mut self.next.completed);
        let (label, path) = self.label_and_path(fragment);
        let out = &mut self.next.incremental;
        if self.format == DeferFormat::Apollo {
            apollo(&path, b"null", label, errors, out);
        }
    }

    /// Writes the data of `group` as a part of `fragment`.
    fn write_data(&mut self, fragment: &Fragment, group: &Deferral, data: &[u8], errors: &[ResponseError]) {
        let path = self.path_of(group);
        if self.format == DeferFormat::Apollo {
            let (label, _) = self.label_and_path(fragment);
            apollo(&path, data, label, errors, &mut self.next.incremental);
            return;
        }
        // the fragment with the longest path, so that the rest of the path is short
        let open = self.fragments_of(group).into_iter().filter_map(|fragment| {
            let state = self.fragments.get(&fragment)?;
            let id = state.id.filter(|_| state.end.is_none())?;
            Some((self.label_and_path(&fragment).1.len(), std::cmp::Reverse(id)))
        });
        let (length, std::cmp::Reverse(id)) = open.max().unwrap_or_default();
        let rest = path.get(length..).unwrap_or_default();
        let out = &mut self.next.incremental;
        begin(out);
        member("id", &id.to_string(), out);
        if !rest.is_empty() {
            out.push(b',');
            member("subPath", rest, out);
        }
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data);
        end(errors, out);
    }

    fn label_and_path(&self, fragment: &Fragment) -> (Option<&'p str>, Vec<PathSegment>) {
        let at = usize::try_from(fragment.index).ok();
        let Some(plan) = at.and_then(|at| self.plan.fragments.get(at)) else {
            return (None, Vec::new());
        };
        (
            plan.label.as_deref(),
            self.plan.path(plan.place, &fragment.indices),
        )
    }

    fn path_of(&self, group: &Deferral) -> Vec<PathSegment> {
        let at = usize::try_from(group.group).ok();
        let place = at.and_then(|at| self.plan.deferred.get(at)?.place);
        self.plan.path(place, group.indices.as_slice())
    }
}

/// Writes an entry of `incremental` in the format of Apollo.
fn apollo(
    path: &[PathSegment],
    data: &[u8],
    label: Option<&str>,
    errors: &[ResponseError],
    out: &mut Vec<u8>,
) {
    begin(out);
    member("path", path, out);
    out.extend_from_slice(b",\"data\":");
    out.extend_from_slice(data);
    if let Some(label) = label {
        out.push(b',');
        member("label", label, out);
    }
    end(errors, out);
}

/// Starts an object in a list.
fn begin(out: &mut Vec<u8>) {
    if !out.is_empty() {
        out.push(b',');
    }
    out.push(b'{');
}

/// Ends an object with its errors.
fn end(errors: &[ResponseError], out: &mut Vec<u8>) {
    if !errors.is_empty() {
        out.push(b',');
        member("errors", errors, out);
    }
    out.push(b'}');
}

fn member(name: &str, value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    json(value, out);
}

/// Adds a value to a list.
fn entry(value: &impl Serialize, list: &mut Vec<u8>) {
    if !list.is_empty() {
        list.push(b',');
    }
    json(value, list);
}

fn json(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    let start = out.len();
    // these values do not fail to serialize; the fallback is valid JSON
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}

fn list(name: &str, entries: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":[");
    out.extend_from_slice(entries);
    out.push(b']');
}
