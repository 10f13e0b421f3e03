// Merges the payloads of an incremental response (graphql-js 17) as a strict client does. Throws if
// a payload cannot be merged: an unknown member, a fragment that is not announced, a path without
// an object, a field that is sent twice, or a fragment that is missing at the end. `reassembled.rs`
// has the same rules.

import assert from "node:assert/strict";

const MEMBERS = {
  payload: ["data", "errors", "pending", "incremental", "completed", "hasNext"],
  pending: ["id", "path", "label"],
  incremental: ["id", "subPath", "data", "errors"],
  completed: ["id", "errors"],
};

function known(kind, value) {
  for (const name of Object.keys(value)) assert.ok(MEMBERS[kind].includes(name), `${kind} has ${name}`);
  if ("errors" in value) assert.ok(value.errors.length > 0, `${kind} without errors`);
  return value;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function merge(into, from) {
  for (const [key, value] of Object.entries(from)) {
    assert.ok(!Object.hasOwn(into, key), `${key} is sent twice`);
    into[key] = value;
  }
}

export class Reassembled {
  data = undefined;
  // errors of the data that was sent
  errors = [];
  // `{ path, label, failed }` in the order of announcement; `failed` has the errors
  fragments = [];
  // data of the later payloads: `[path, data]`
  sent = [];
  #open = new Map();
  #isComplete = false;

  at(path) {
    return path.reduce((value, segment) => {
      assert.ok(typeof value === "object" && value !== null && Object.hasOwn(value, segment), `nothing at ${path}`);
      return value[segment];
    }, this.data);
  }

  // the single result of an operation that deferred nothing
  whole({ data, errors = [] }) {
    this.data = structuredClone(data);
    this.errors = errors;
  }

  add(payload) {
    known("payload", payload);
    assert.ok(!this.#isComplete, "a payload after the last one");
    if (this.data === undefined) {
      assert.ok(isObject(payload.data) && payload.pending.length > 0 && payload.hasNext, "the first payload");
      this.whole(payload);
    } else {
      assert.ok(!("data" in payload) && !("errors" in payload), "a later payload");
    }
    for (const pending of payload.pending ?? []) {
      const { id, path, label = null } = known("pending", pending);
      assert.ok(!this.#open.has(id), `${id} is announced twice`);
      const fragment = { path, label, failed: null };
      this.fragments.push(fragment);
      this.#open.set(id, fragment);
    }
    for (const part of payload.incremental ?? []) {
      const { id, subPath = [], data, errors = [] } = known("incremental", part);
      const path = [...this.#open.get(id).path, ...subPath];
      assert.ok(isObject(data) && isObject(this.at(path)), `data at ${path}`);
      this.sent.push([path, structuredClone(data)]);
      merge(this.at(path), structuredClone(data));
      this.errors.push(...errors);
    }
    for (const { path } of payload.pending ?? []) assert.ok(isObject(this.at(path)), `${path} has no object`);
    for (const completed of payload.completed ?? []) {
      const { id, errors } = known("completed", completed);
      this.#open.get(id).failed = errors ?? null;
      this.#open.delete(id);
    }
    this.#isComplete = payload.hasNext === false;
    assert.ok(!this.#isComplete || this.#open.size === 0, "fragments are missing at the end");
  }

  get isComplete() {
    return this.#isComplete;
  }
}
