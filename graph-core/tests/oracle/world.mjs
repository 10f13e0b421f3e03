// Data of the generated schemas: a field's value depends only on its object's seed, its name and
// its arguments, so that `world.rs` returns the same. Keep both files in sync.

import { camel, nameOf } from "./types.mjs";

// Mixes two words to 32 bits; `mix` of world.rs
export function mix(left, right) {
  let word = (left + 0x9e3779b9) >>> 0;
  word = (word ^ Math.imul(right, 0x9e3779b1)) >>> 0;
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b) >>> 0;
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35) >>> 0;
  return (word ^ (word >>> 16)) >>> 0;
}

const digest = (text) => new TextEncoder().encode(text).reduce((word, byte) => mix(word, byte), 0);

export class Roll {
  constructor(seed) {
    this.state = seed;
  }

  next() {
    this.state = mix(this.state, 1);
    return this.state;
  }

  below(bound) {
    return this.next() % bound;
  }
}

export const TEXTS = [
  "", "plain", "a text that is long enough to be looked at eight bytes at a time", 'quoted "twice"', "back\\slash / slash", "line\nfeed\ttab\r",
  "\u0000\u001f\u007f\b\f", "grüße", "日本語", "🦀 astral", "</script>", "\u2028\u2029",
];

export class Failure extends Error {}

// Makes a value of `type` (`make` of world.rs).
function make(schema, type, roll, field) {
  if (type.nullable && roll.below(4) === 0) return null;
  if (type.list) return Array.from({ length: roll.below(4) }, () => make(schema, type.of, roll, field));
  switch (type.of) {
    case "Int": return roll.next() | 0;
    case "Float": return roll.below(2000) - 1000 + 0.5;
    case "Boolean": return roll.below(2) === 1;
    case "ID": return `id-${roll.below(1000)}`;
    case "String": {
      const text = TEXTS[roll.below(TEXTS.length)];
      return field.borrowed ? text : `${text}${roll.below(1000)}`;
    }
  }
  const definition = schema.byName.get(type.of);
  switch (definition.kind) {
    case "enum": return definition.values[roll.below(definition.values.length)];
    case "object": return object(schema, definition, roll);
    default: return object(schema, schema.byName.get(definition.members[roll.below(definition.members.length)]), roll);
  }
}

function object(schema, { name, fields, isRecord }, roll) {
  if (!isRecord) return { type: name, seed: roll.next() };
  return { type: name, ...Object.fromEntries(fields.map((field) => [field.name, make(schema, field.type, roll, field)])) };
}

// Coerced argument as text; absent and null differ if the Rust type distinguishes them (`Canon` of
// world.rs).
export function canon(schema, type, value, { three = false } = {}) {
  if (value === undefined) return three ? "-" : "null";
  if (value === null) return "null";
  if (type.list) return `[${value.map((item) => canon(schema, type.of, item)).join(",")}]`;
  const definition = schema.byName.get(nameOf(type));
  if (definition?.kind === "input") {
    const fields = definition.fields.map((field) => `${field.name}:${canon(schema, field.type, value[camel(field.name)], field)}`);
    return `{${fields.join(",")}}`;
  }
  return type.of === "String" || type.of === "ID" ? `'${value}'` : String(value);
}

// Host value of every resolver; mutations increment a counter.
export class World {
  count = 0;
}

// The resolver of `field` of the object type `owner`.
export function resolver(schema, owner, field) {
  if (owner.isRecord) return (parent) => parent[field.name];
  const place = `${owner.name}.${camel(field.name)}`;
  const answer = (parent, args, world) => {
    const given = field.args.map((arg) => canon(schema, arg.type, args[camel(arg.name)], arg)).join(";");
    if (field.echo) return given;
    const seed = parent?.seed ?? 0;
    const roll = new Roll(mix(mix(mix(digest(place), seed), digest(given)), world.count));
    if (field.fails && roll.below(4) === 0) throw new Failure(`${place} failed for ${seed}`);
    return make(schema, field.type, roll, field);
  };
  if (owner.name === "Mutation") {
    return async (parent, args, world) => {
      world.count += 1;
      await Promise.resolve();
      return answer(parent, args, world);
    };
  }
  if (!field.async) return answer;
  return async (parent, args, world) => {
    await Promise.resolve();
    return answer(parent, args, world);
  };
}
