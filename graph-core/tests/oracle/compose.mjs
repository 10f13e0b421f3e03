// Composes a mostly valid operation on a generated schema: fragments of every kind, `@skip` and
// `@include`, aliases, repeated response keys, variables with and without defaults.

import { Random } from "./random.mjs";
import { camel, named, nameOf, optional, print, required } from "./types.mjs";
import { valueOf } from "./values.mjs";

const ALIASES = ["x", "y", "z", "total", "aLongAliasWhoseKeyDoesNotFitInline", "_"];

class Composer {
  constructor(schema, seed, { deferred = false } = {}) {
    this.schema = schema;
    this.deferred = deferred;
    this.labels = 0;
    this.random = new Random(seed);
    this.variables = [];
    this.fragments = [];
    // response key -> its first selection, so that it can be repeated
    this.keys = new Map();
    this.left = 60;
  }

  compose() {
    const { random, schema } = this;
    const mutation = schema.byName.has("Mutation") && random.chance(15);
    const root = schema.byName.get(mutation ? "Mutation" : "Query");
    const body = this.selection(root, 5);
    const name = random.chance(50) ? "Asked" : "";
    const declared = this.variables.map((it) => `$${it.name}: ${print(it.type)}${it.fallback === undefined ? "" : ` = ${it.fallback}`}`);
    const list = declared.length ? `(${declared.join(", ")})` : "";
    const head = mutation ? `mutation ${name}${list} ` : name || list || random.chance(20) ? `query ${name}${list} ` : "";
    const definitions = [`${head}${body}`, ...this.fragments.map((it) => `fragment ${it.name} on ${it.on.name} ${it.body}`)];
    const request = {};
    if (head.includes("Asked") && random.chance(30)) {
      definitions.push("query Other { __typename }");
      request.operationName = "Asked";
    }
    // definitions in random order
    if (random.chance(30)) definitions.reverse();
    const note = random.chance(15) ? "# é 日本\n" : "";
    request.query = note + definitions.join(random.pick([" ", "\n", "\r\n", "\n\n"]));
    const given = this.variables.filter((it) => it.given !== undefined).map((it) => [it.name, it.given]);
    if (given.length || random.chance(20)) request.variables = Object.fromEntries(given);
    return request;
  }

  selection(owner, depth) {
    const { random } = this;
    const items = Array.from({ length: 1 + random.below(depth > 3 ? 5 : 4) }, () => this.item(owner, depth)).filter(Boolean);
    if (!items.length) items.push("__typename");
    const gap = random.pick([" ", "\n", ",\n    ", "\n\t"]);
    return `{${gap}${items.join(gap)}${gap === " " ? " " : "\n"}}`;
  }

  item(owner, depth) {
    const { random } = this;
    this.left -= 1;
    const choice = random.below(100);
    if (choice < 8) return this.typename();
    if (choice < 26 && depth > 1) return this.inline(owner, depth);
    if (choice < 40 && depth > 1) return this.spread(owner, depth);
    const fields = owner.fields ?? [];
    return fields.length ? this.field(random.pick(fields), depth) : this.inline(owner, depth);
  }

  // types that a fragment within `owner` can have
  conditions(owner) {
    const concrete = (it) => (it.kind === "object" ? [it.name] : it.members);
    const mine = concrete(owner);
    return this.schema.definitions.filter((it) => ["object", "interface", "union"].includes(it.kind) && concrete(it).some((name) => mine.includes(name)));
  }

  inline(owner, depth) {
    if (depth <= 1) return undefined;
    const bare = this.random.chance(20);
    const on = bare ? owner : this.random.pick(this.conditions(owner));
    return `...${bare ? "" : ` on ${on.name}`}${this.directives()}${this.deferral()} ${this.selection(on, depth - 1)}`;
  }

  spread(owner, depth) {
    const { random } = this;
    const fitting = this.conditions(owner);
    // only finished fragments are spread, so there are no cycles
    const known = this.fragments.filter((it) => fitting.includes(it.on));
    if (known.length && random.chance(60)) return `...${random.pick(known).name}${this.directives()}${this.deferral()}`;
    if (this.left < 0) return undefined;
    const on = random.pick(fitting);
    const body = this.selection(on, depth - 1);
    const name = `Part${this.fragments.length}`;
    this.fragments.push({ name, on, body });
    return `...${name}${this.directives()}${this.deferral()}`;
  }

  field(field, depth) {
    const { random, schema } = this;
    const inner = schema.byName.get(nameOf(field.type));
    const composite = inner && inner.kind !== "enum";
    if (composite && (depth <= 1 || this.left < 0)) return undefined;
    const name = camel(field.name);
    const seen = this.keys.get(name);
    const type = print(field.type);
    // arguments of an earlier selection of this field, so that both can be merged
    const again = seen?.name === name && seen.type === type && random.chance(80);
    const args = again ? seen.args : this.args(field);
    const body = composite ? ` ${this.selection(inner, depth - 1)}` : "";
    return this.keyed(name, args, type, body);
  }

  // graphql-js does not compare `__typename` with another field of the same key, so they are kept
  // apart
  typename() {
    const { random } = this;
    const alias = random.chance(25) ? `${random.pick(["what", "type", "aLongAliasOfTheNameOfTheType"])}: ` : "";
    return `${alias}__typename${this.directives()}`;
  }

  keyed(name, args, type, body) {
    const { random } = this;
    let key = random.chance(25) ? random.pick(ALIASES) : name;
    const fits = (it) => !it || (it.name === name && it.args === args && it.type === type);
    // a few selections conflict; graphql-js filters them out
    while (!fits(this.keys.get(key)) && random.chance(97)) key = `${key}_`;
    this.keys.set(key, { name, args, type });
    return `${key === name ? "" : `${key}: `}${name}${args}${this.directives()}${body}`;
  }

  args(field) {
    const given = [];
    for (const arg of field.args) {
      const needed = !arg.type.nullable && arg.fallback === undefined;
      if (!needed && this.random.chance(35)) continue;
      const value = this.variable(arg.type, arg.fallback) ?? valueOf(this.random, this.schema, arg.type, this.variable.bind(this), camel);
      given.push(`${camel(arg.name)}: ${value.text}`);
    }
    return given.length ? `(${given.join(", ")})` : "";
  }

  // sometimes a variable that is valid where `type` is expected
  variable(type, fallback) {
    const { random, schema } = this;
    if (!random.chance(30)) return undefined;
    const text = print(type);
    const known = this.variables.filter((it) => it.fits === text && it.located === (fallback !== undefined));
    if (known.length && random.chance(50)) return { text: `$${random.pick(known).name}` };
    const made = { name: `v${this.variables.length}`, fits: text, located: fallback !== undefined, type };
    if (type.nullable && random.chance(25)) made.type = required(type);
    const plain = (it) => valueOf(random, schema, it, undefined, camel);
    // a default at either place allows a nullable variable at a non-null position
    if (!type.nullable && fallback !== undefined && random.chance(40)) made.type = optional(type);
    if (random.chance(35)) {
      made.fallback = plain(required(made.type)).text;
      if (!type.nullable && random.chance(60)) made.type = optional(type);
    }
    const absent = (made.type.nullable || made.fallback !== undefined) && random.chance(40);
    if (!absent) made.given = plain(made.type).json;
    this.variables.push(made);
    return { text: `$${made.name}` };
  }

  // `@defer` of a fragment
  deferral() {
    const { random } = this;
    if (!this.deferred || !random.chance(70)) return "";
    const args = [];
    if (random.chance(40)) args.push(`label: "part ${(this.labels += 1)}"`);
    if (random.chance(25)) {
      const value = this.variable(named("Boolean"), true) ?? { text: String(random.chance(80)) };
      args.push(`if: ${value.text}`);
    }
    return ` @defer${args.length ? `(${args.join(", ")})` : ""}`;
  }

  directives() {
    const { random } = this;
    if (!random.chance(12)) return "";
    const one = () => {
      const value = this.variable(named("Boolean")) ?? { text: String(random.chance(60)) };
      return `(if: ${value.text})`;
    };
    return random.pick([() => ` @include${one()}`, () => ` @skip${one()}`, () => ` @skip${one()} @include${one()}`])();
  }
}

// Returns `{ query, variables, operationName }` for a seed. `deferred`: most fragments have `@defer`.
export function compose(schema, seed, options) {
  return new Composer(schema, seed, options).compose();
}
