// Generates the SDL text of a schema. Every schema has the features that the faults need; names,
// types, defaults, descriptions and deprecations are random.

import { buildSchema, parseType, typeFromAST } from "graphql";
import { literalOf, NO_VARIABLES_IN_SCHEMA } from "./literals.mjs";
import { block, quote, STRINGS } from "./text.mjs";

const WORDS = ["total", "price", "name", "owner", "items", "matrix", "parent", "kind", "note", "tags", "peer", "rows", "flag", "ratio", "code", "best", "cells", "nearest", "type", "on", "query", "input", "fragment"];
const INPUTS = ["Int", "Float", "String", "Boolean", "ID", "Color", "Size", "Json", "Span", "Filter", "Choice"];
const EXECUTABLE = ["QUERY", "MUTATION", "SUBSCRIPTION", "FIELD", "FRAGMENT_DEFINITION", "FRAGMENT_SPREAD", "INLINE_FRAGMENT", "VARIABLE_DEFINITION"];

class Inventor {
  constructor(random) {
    this.random = random;
    // input values `{ name, type, byDefault }` by place; defaults are added when the types exist
    this.values = new Map();
  }

  wrap(name) {
    const { random } = this;
    const bang = () => (random.chance(35) ? "!" : "");
    let text = `${name}${bang()}`;
    for (let depth = random.pick([0, 0, 0, 0, 1, 1, 2]); depth > 0; depth -= 1) text = `[${text}]${bang()}`;
    return text;
  }

  description(indent) {
    const { random } = this;
    if (!random.chance(15)) return "";
    const text = random.pick(STRINGS);
    return `${indent}${random.chance(50) ? quote(random, text) : block(random, text)}\n`;
  }

  deprecation(allowed = true) {
    const { random } = this;
    if (!allowed || !random.chance(10)) return "";
    return random.chance(50) ? " @deprecated" : ` @deprecated(reason: ${quote(random, random.pick(STRINGS))})`;
  }

  value(place, name, type, { byDefault = 45, deprecable = true } = {}) {
    const { random } = this;
    const known = this.values.get(place) ?? { type, byDefault: random.chance(byDefault) };
    this.values.set(place, known);
    const fallback = known.text === undefined ? "" : ` = ${known.text}`;
    // required values cannot be deprecated
    const optional = !known.type.endsWith("!") || known.text !== undefined;
    known.deprecation ??= this.deprecation(deprecable && !known.type.endsWith("!"));
    return `${name}: ${known.type}${fallback}${optional ? known.deprecation : ""}`;
  }

  args(place) {
    const { random } = this;
    const count = random.pick([0, 0, 0, 1, 1, 2, 3]);
    return random.some(["first", "after", "by", "filter", "on", "choice"], count).map((name) => ({ name, place: `${place}.${name}`, type: this.wrap(random.pick(INPUTS)) }));
  }

  field(name, type, args = this.args(`${name}${this.random.below(1e9)}`)) {
    return { name, type, args, description: this.description("  "), deprecation: this.deprecation() };
  }

  // fields of an implementer: the same names and arguments, narrower types
  implement(fields, possible) {
    const { random } = this;
    return fields.map((field) => {
      let { type } = field;
      const members = possible[type.replaceAll(/[[\]!]/g, "")];
      if (members && random.chance(40)) type = type.replace(/\w+/, random.pick(members));
      if (!type.endsWith("!") && random.chance(30)) type = `${type}!`;
      return { ...field, type };
    });
  }

  invent() {
    const { random } = this;
    const outputs = ["Human", "Droid", "Ship", "Planet", "Crew", "Node", "Named", "Place", "Hit", "Thing"];
    const leaves = ["Int", "Float", "String", "Boolean", "ID", "Color", "Size", "Json", "DateTime"];
    const anyField = (name) => this.field(name, this.wrap(random.pick(random.chance(50) ? outputs : leaves)));
    const fieldsOf = (count) => random.some(WORDS, count).map(anyField);
    const node = [this.field("id", "ID!", [])];
    const label = [this.field("label", "String"), this.field("self", random.pick(["Node", "Named!", "Hit"]), [])];
    const place = [this.field("id", random.pick(["ID", "ID!"]), []), this.field("near", random.pick(["Place", "[Place]", "[Place!]"]))];
    const possible = { Node: ["Human", "Droid", "Ship", "Named"], Named: ["Human", "Droid"], Place: ["Planet", "Ship"], Hit: ["Human", "Planet"], Thing: ["Droid", "Crew", "Ship"] };
    const named = [...node, ...label];
    const unique = (fields) => [...new Map(fields.map((field) => [field.name, field])).values()];
    this.objects = [
      { kind: "interface", name: "Node", fields: node },
      { kind: "interface", name: "Named", interfaces: ["Node"], fields: named },
      { kind: "interface", name: "Place", fields: place },
      { name: "Human", interfaces: random.pick([["Node", "Named"], ["Named", "Node"]]), fields: unique([...fieldsOf(4), ...this.implement(named, possible)]) },
      { name: "Droid", interfaces: ["Named", "Node"], fields: unique([...this.implement(named, possible), ...fieldsOf(3)]) },
      { name: "Ship", interfaces: ["Place", "Node"], fields: unique([...fieldsOf(3), ...this.implement(place, possible), ...node]) },
      { name: "Planet", interfaces: ["Place"], fields: unique([...this.implement(place, possible), ...fieldsOf(4)]) },
      { name: "Crew", interfaces: [], fields: fieldsOf(4) },
    ];
    const argument = (name, type) => ({ name, place: `root.${name}.${random.below(1e9)}`, type });
    const typed = INPUTS.map((type) => this.field(`by${type}`, random.pick(leaves), [argument("it", this.wrap(type)), argument("other", `${type}!`)]));
    const composite = random.some(outputs, 6).map((type) => this.field(`get${type}`, this.wrap(type)));
    const renamed = random.chance(35);
    this.roots = renamed ? { query: "Root", mutation: "Changes", subscription: "Events" } : { query: "Query", mutation: "Mutation", subscription: "Subscription" };
    this.explicit = renamed || random.chance(20);
    this.objects.push({ name: this.roots.query, interfaces: [], fields: [...typed, ...composite] });
    if (random.chance(15)) delete this.roots.mutation;
    else this.objects.push({ name: this.roots.mutation, interfaces: [], fields: [...random.some(typed, 4), ...fieldsOf(2)] });
    if (random.chance(15)) delete this.roots.subscription;
    else this.objects.push({ name: this.roots.subscription, interfaces: [], fields: [...random.some(composite, 3), ...fieldsOf(2)] });
    this.enums = { Color: random.some(["RED", "GREEN", "BLUE", "red", "_", "on", "type"], 4), Size: ["SMALL", "LARGE"] };
    this.headers = Object.fromEntries([...outputs, "Color", "Size", "Json", "DateTime", "Span", "Filter", "Choice", "schema"].map((name) => [name, this.description("")]));
    this.valueDeprecations = Array.from({ length: 8 }, () => this.deprecation());
    this.inputTypes = { spans: this.wrap("Span"), ratio: random.pick(["Float!", "Float"]), colors: this.wrap("Color"), json: this.wrap("Json"), to: random.pick(["Int", "Int!"]) };
    this.limits = { count: random.pick(["Int", "Int!"]), kinds: this.wrap("Color") };
    this.onAll = random.chance(50) ? EXECUTABLE.join(" | ") : `\n  | ${EXECUTABLE.join("\n  | ")}\n`;
  }

  directives() {
    const value = (name, type, options) => this.value(`@${name}`, name, type, options);
    return [
      `directive @everywhere(${value("note", "String", { byDefault: 50 })}) on ${this.onAll}`,
      `directive @tag(${value("name", "String!", { byDefault: 0 })}) repeatable on ${this.onAll}`,
      `directive @limit(${value("count", this.limits.count)}, ${value("kinds", this.limits.kinds)}, ${value("choice", "Choice", { byDefault: 0 })}, ${value("spans", "[Span!]")}) on FIELD | QUERY | FRAGMENT_SPREAD | FRAGMENT_DEFINITION`,
      "directive @onVariable on VARIABLE_DEFINITION", "directive @onQuery on QUERY", "directive @onMutation on MUTATION | SUBSCRIPTION",
      "directive @onInline on INLINE_FRAGMENT", "directive @onSpread on FRAGMENT_SPREAD", "directive @onFragment on FRAGMENT_DEFINITION", "directive @onType on OBJECT | FIELD_DEFINITION | SCHEMA",
    ];
  }

  inputs() {
    const value = (place, type, options) => this.value(place, place.split(".")[1], type, options);
    return [
      `input Span {\n  ${value("Span.from", "Int!", { byDefault: 60 })}\n  ${value("Span.to", this.inputTypes.to)}\n  ${value("Span.colors", this.inputTypes.colors)}\n  ${value("Span.note", "String")}\n}`,
      `input Filter {\n  ${value("Filter.text", "String", { byDefault: 80 })}\n  ${value("Filter.span", "Span")}\n  ${value("Filter.spans", this.inputTypes.spans)}\n  ${value("Filter.ratio", this.inputTypes.ratio)}\n  ${value("Filter.json", this.inputTypes.json)}\n  ${value("Filter.deeper", "Filter", { byDefault: 0 })}\n  ${value("Filter.choice", "Choice", { byDefault: 30 })}\n}`,
      `input Choice @oneOf {\n  ${["id: ID", "name: String", "span: Span", "colors: [Color!]", "choice: Choice"].join("\n  ")}\n}`,
    ];
  }

  objectText({ kind = "type", name, interfaces, fields }) {
    const lines = fields.map(({ name: field, type, args, description, deprecation }) => {
      const list = args.map((arg) => this.value(arg.place, arg.name, arg.type));
      return `${description}  ${field}${list.length ? `(${list.join(", ")})` : ""}: ${type}${deprecation}`;
    });
    const parents = interfaces?.length ? ` implements ${interfaces.join(" & ")}` : "";
    return `${this.headers[name] ?? ""}${kind} ${name}${parents} {\n${lines.join("\n")}\n}`;
  }

  text() {
    const { headers, roots } = this;
    const enums = Object.entries(this.enums).map(([name, values]) => `${headers[name]}enum ${name} {\n${values.map((value, at) => `  ${value}${this.valueDeprecations[at]}`).join("\n")}\n}`);
    return [
      ...(this.explicit ? [`${headers.schema}schema {\n${Object.entries(roots).map(([type, name]) => `  ${type}: ${name}`).join("\n")}\n}`] : []),
      ...this.directives(),
      ...enums,
      `${headers.DateTime}scalar DateTime @specifiedBy(url: "https://example.com/date-time")`, `${headers.Json}scalar Json`,
      ...this.inputs(),
      ...this.objects.map((object) => this.objectText(object)),
      `${headers.Hit}union Hit = Human | Planet`, `${headers.Thing}union Thing =\n  | Droid\n  | Crew\n  | Ship`,
    ].join("\n\n") + "\n";
  }
}

// Returns the SDL text of a valid schema.
export function inventSdl(random) {
  const inventor = new Inventor(random);
  inventor.invent();
  const schema = buildSchema(inventor.text());
  for (const known of inventor.values.values()) {
    if (known.byDefault) known.text = literalOf(random, typeFromAST(schema, parseType(known.type)), { variable: NO_VARIABLES_IN_SCHEMA });
  }
  return inventor.text();
}
