// Generates a schema from a seed: input of `schema.mjs` (graphql-js) and `rust.mjs` (Rust).
//
// `{ name, definitions, byName }`; a definition has a `kind`:
//   enum       `{ values }`
//   input      `{ fields: [{ name, type, fallback, three }] }`
//   object     `{ interfaces, fields: [{ name, type, args, async, fails, borrowed, echo }], isRecord }`
//   interface  `{ members, fields }`
//   union      `{ members }`
// `fallback` is a default value as JSON, `three` distinguishes absent from null, `borrowed` is a
// `&'static str`, `isRecord` a struct that stores its values instead of a seed.

import { Random } from "./random.mjs";
import { listOf, named, nameOf, parse, required } from "./types.mjs";

const WORDS = [
  "total", "unit_price", "name", "owner", "items", "matrix", "parent", "kind", "note", "tags", "peer", "rows", "flag", "ratio", "code",
  "a_field_whose_name_is_longer_than_most", "best", "any_hit", "cells", "nearest", "history", "label", "mark", "grid", "extra",
];
const SCALARS = ["Int", "Float", "String", "Boolean", "ID"];

// wraps a name in up to two lists, in all nullabilities
function wrapped(random, name, { lists = 2 } = {}) {
  let type = named(name, random.chance(40));
  for (let depth = random.pick([0, 0, 0, 1, 1, 2]); depth > 0 && lists > 0; depth -= 1) type = listOf(type, random.chance(40));
  return type;
}

function argument(random, schema, name) {
  const inputs = schema.definitions.filter(({ kind }) => kind === "enum" || kind === "input").map((it) => it.name);
  const type = wrapped(random, random.pick([...SCALARS, "Int", "String", ...inputs]));
  const arg = { name, type };
  if (!type.list && random.chance(35)) {
    const fallback = { Int: 3, Float: 2.5, String: "a default", Boolean: true }[type.of];
    if (fallback !== undefined) arg.fallback = fallback;
  } else if (type.nullable && random.chance(25)) {
    arg.three = true;
  }
  return arg;
}

function field(random, schema, name, composites, share = 55) {
  const of = random.chance(share) ? random.pick(composites) : random.pick([...SCALARS, ...schema.enums]);
  const type = wrapped(random, of);
  const made = { name, type, args: [], async: random.chance(35), fails: random.chance(40) };
  if (random.chance(40)) {
    made.args = ["first", "by_what", "deep_filter"].slice(0, 1 + random.below(3)).map((arg) => argument(random, schema, arg));
  }
  made.borrowed = of === "String" && random.chance(40);
  return made;
}

// a type that is valid in an implementer of an interface whose field has `type`
function narrowed(random, schema, type) {
  if (type.list) {
    const inner = { ...type, of: narrowed(random, schema, type.of) };
    return random.chance(20) ? required(inner) : inner;
  }
  const { kind, members } = schema.byName.get(type.of) ?? {};
  const of = (kind === "interface" || kind === "union") && random.chance(30) ? random.pick(members) : type.of;
  return random.chance(20) ? named(of) : { ...type, of };
}

function add(schema, definition) {
  schema.definitions.push(definition);
  schema.byName.set(definition.name, definition);
  return definition;
}

function inputs(random, schema) {
  const values = ["RED", "DARK_GREEN", "BLUE"];
  add(schema, { kind: "enum", name: "Colour", values, derived: true });
  add(schema, { kind: "enum", name: "Size", values: ["SMALL", "LARGE"] });
  schema.enums = ["Colour", "Size"];
  const leaf = { kind: "input", name: "Span" };
  leaf.fields = [
    { name: "from", type: parse("Int!"), fallback: 7 },
    { name: "to_where", type: parse("Int"), three: true },
    { name: "colours", type: parse(random.pick(["[Colour!]", "[Colour]!", "[[Colour]!]"])) },
  ];
  add(schema, leaf);
  const outer = { kind: "input", name: "Filter" };
  outer.fields = [
    { name: "text", type: parse("String"), fallback: "all" },
    { name: "span", type: parse(random.pick(["Span", "Span!"])) },
    { name: "spans", type: parse(random.pick(["[Span!]", "[Span]!", "[Span]"])) },
    { name: "ratio", type: parse("Float!") },
  ];
  add(schema, outer);
}

// one root field per argument type, which returns its argument
const ECHOED = [
  "Int", "Int!", "Float", "Float!", "String", "String!", "Boolean", "Boolean!", "ID", "ID!", "Colour", "Colour!", "[Int]", "[Int!]", "[Int]!",
  "[Int!]!", "[[Int]]", "[[Int!]!]!", "[ID!]", "[String]", "[Colour!]", "Span", "Span!", "[Span!]", "Filter", "Filter!", "[Filter]!", "Size", "[Size!]!",
];
const DEFAULTED = { "Int!": 3, Int: 4, "Float!": 1.5, "String!": "a default", Boolean: true };

function echoes() {
  const echo = (name, arg) => ({ name, type: parse("String!"), echo: true, args: [{ name: "it", ...arg }] });
  return [
    ...ECHOED.map((text, index) => echo(`echo_${index}`, { type: parse(text) })),
    ...Object.entries(DEFAULTED).map(([text, fallback], index) => echo(`defaulted_${index}`, { type: parse(text), fallback })),
    echo("three_int", { type: parse("Int"), three: true }),
    echo("three_list", { type: parse("[String!]"), three: true }),
  ];
}

// fields of a struct that stores all of them
function record(random, objects) {
  const plain = (name, type) => ({ name, type, args: [], async: false, fails: false });
  return [
    ...["code", "ratio", "name", "a_field_whose_name_is_longer_than_most"].map((name) => plain(name, wrapped(random, random.pick(SCALARS), { lists: 0 }))),
    plain("tags", wrapped(random, "String")),
    plain("colour", named("Colour", true)),
    plain("size", named("Size")),
    plain("nearest", named(random.pick(objects), true)),
  ];
}

// Returns schema number `seed`; number 0 has only the root fields that return their argument.
export function invent(seed) {
  const random = new Random(0x5eed + seed);
  const schema = { name: `schema_${seed}`, definitions: [], byName: new Map() };
  inputs(random, schema);
  if (seed === 0) {
    add(schema, { kind: "object", name: "Query", interfaces: [], fields: echoes() });
    return schema;
  }
  const objects = ["Human", "Droid", "Ship", "Planet", "Crew"].slice(0, 4 + random.below(2));
  const composites = [...objects, "Being", "Place", "Hit", "Mark"];
  for (const name of objects) add(schema, { kind: "object", name, interfaces: [], fields: [] });
  const interfaces = ["Being", "Place"].map((name) => add(schema, { kind: "interface", name, members: random.some(objects, 2 + random.below(2)) }));
  add(schema, { kind: "union", name: "Hit", members: random.some(objects, 2 + random.below(2)) });

  add(schema, { kind: "object", name: "Mark", interfaces: [], fields: record(random, objects), isRecord: true });
  for (const definition of interfaces) {
    const other = definition.name === "Being" ? 0 : 3;
    definition.fields = WORDS.slice(other, other + 3).map((name) => field(random, schema, name, composites));
  }
  for (const name of objects) {
    const object = schema.byName.get(name);
    for (const { name: abstract, members, fields } of interfaces) {
      if (!members.includes(name)) continue;
      object.interfaces.push(abstract);
      object.fields.push(...fields.map((it) => ({ ...it, type: narrowed(random, schema, it.type), async: random.chance(35), fails: random.chance(40) })));
    }
    const own = random.some(WORDS.slice(6), 4);
    object.fields.push(...own.map((word) => field(random, schema, word, composites)));
    for (const it of object.fields) it.borrowed &&= nameOf(it.type) === "String";
  }
  // every type is reachable: juniper knows no others
  const root = (name, of) => ({ ...field(random, schema, name, of ? [of] : composites, of ? 100 : 80), fails: random.chance(25) });
  const roots = [["hero", "Being"], ["everybody", "Human"], ["one_of_them", "Hit"], ["ships", "Place"], ["answer_to_all"], ["marks", "Mark"]];
  const others = objects.slice(1).map((name) => [`any_${name.toLowerCase()}`, name]);
  add(schema, { kind: "object", name: "Query", interfaces: [], fields: [...roots, ...others].map(([name, of]) => root(name, of)) });
  const changes = ["add_one", "rename", "remove_all"].map((name) => root(name));
  add(schema, { kind: "object", name: "Mutation", interfaces: [], fields: changes.map((it) => ({ ...it, async: true })) });
  return schema;
}

