// Composes a valid document on a schema: operations of all types, shared and nested fragments,
// variables, aliases, directives, descriptions.

import { getNamedType, getNullableType, GraphQLNonNull, isAbstractType, isCompositeType, isRequiredArgument, isTypeSubTypeOf, isUnionType } from "graphql";
import { literalOf } from "./literals.mjs";
import { block, quote, STRINGS } from "./text.mjs";

const ALIASES = ["a", "b", "x1", "_", "__x", "total", "on", "fragment", "query", "true", "null", "aLongAliasOfAField"];
const ROOTS = { query: "getQueryType", mutation: "getMutationType", subscription: "getSubscriptionType" };

export class Composer {
  constructor(random, schema, { size = 14 } = {}) {
    Object.assign(this, { random, schema, left: size });
    this.composites = Object.values(schema.getTypeMap()).filter((type) => isCompositeType(type) && !type.name.startsWith("__"));
    // name -> { type, text, fallback }
    this.variables = new Map();
    this.fragments = new Map();
    // response key -> its first field, so that fields of one key can be merged
    this.keys = new Map();
    // use of variables and fragments by the definition in work
    this.uses = { variables: new Set(), fragments: new Set() };
    this.variable = this.variable.bind(this);
  }

  compose() {
    const { random } = this;
    const count = random.pick([1, 1, 1, 2, 3]);
    const operations = Array.from({ length: count }, (_, at) => this.operation(count > 1 || random.chance(50) ? `${random.pick(["Op", "on", "query", "A", "_"])}${at}` : ""));
    const definitions = [...operations.map((operation) => this.operationText(operation)), ...[...this.fragments.values()].map((fragment) => fragment.text)];
    if (random.chance(30)) definitions.reverse();
    return definitions.join("\n");
  }

  // runs `write` and returns its text with the variables and fragments it uses
  tracked(write) {
    const outer = this.uses;
    this.uses = { variables: new Set(), fragments: new Set() };
    const text = write();
    const { variables, fragments } = this.uses;
    this.uses = outer;
    return { text, variables, fragments };
  }

  operation(name) {
    const { random, schema } = this;
    const types = Object.keys(ROOTS).filter((type) => schema[ROOTS[type]]());
    const type = random.chance(65) ? "query" : random.pick(types);
    const root = schema[ROOTS[type]]();
    const body = this.tracked(() => {
      const directives = this.directives(type.toUpperCase());
      return `${directives} ${type === "subscription" ? this.singleField(root) : this.selections(root, 4)}`;
    });
    return { name, type, ...body };
  }

  // selection of a subscription: one field, perhaps within a fragment
  singleField(root) {
    this.isSubscriptionRoot = true;
    const field = this.field(root, 3, true);
    const wrapped = this.random.chance(15) ? `... on ${root.name}${this.directives("INLINE_FRAGMENT")} { ${field} }` : field;
    this.isSubscriptionRoot = false;
    return `{ ${wrapped} }`;
  }

  operationText({ name, type, text, variables, fragments }) {
    const { random } = this;
    const used = new Set(variables);
    const pending = [...fragments];
    const seen = new Set(pending);
    for (const fragment of pending) {
      const known = this.fragments.get(fragment);
      for (const variable of known.variables) used.add(variable);
      for (const inner of known.fragments) {
        if (!seen.has(inner)) pending.push(inner);
        seen.add(inner);
      }
    }
    if (type === "query" && !name && !used.size && text.startsWith(" {") && random.chance(70)) return text;
    const declared = [...used].map((variable) => this.variables.get(variable).text);
    if (random.chance(30)) declared.reverse();
    return `${this.description()}${type} ${name}${declared.length ? `(${declared.join(", ")})` : ""}${text}`;
  }

  description() {
    const { random } = this;
    if (!random.chance(8)) return "";
    const text = random.pick(STRINGS);
    return `${random.chance(50) ? quote(random, text) : block(random, text)} `;
  }

  selections(parent, depth) {
    const count = 1 + this.random.below(depth > 2 ? 4 : 3);
    const items = Array.from({ length: count }, () => this.selection(parent, depth)).filter(Boolean);
    return `{ ${items.length ? items.join(" ") : "__typename"} }`;
  }

  selection(parent, depth) {
    const { random } = this;
    this.left -= 1;
    const choice = random.below(100);
    if (choice < 12 && depth > 1 && this.left > 0) return this.inline(parent, depth);
    if (choice < 26 && depth > 1) return this.spread(parent, depth);
    return this.field(parent, depth);
  }

  fitting(parent) {
    const possible = (type) => (isAbstractType(type) ? this.schema.getPossibleTypes(type) : [type]);
    const own = possible(parent);
    return this.composites.filter((type) => possible(type).some((it) => own.includes(it)));
  }

  inline(parent, depth) {
    const { random } = this;
    const isBare = random.chance(25);
    const type = isBare ? parent : random.pick(this.fitting(parent));
    return `...${isBare ? "" : ` on ${type.name}`}${this.directives("INLINE_FRAGMENT")} ${this.selections(type, depth - 1)}`;
  }

  spread(parent, depth) {
    const { random } = this;
    const fitting = this.fitting(parent);
    const known = [...this.fragments.values()].filter(({ type }) => fitting.includes(type));
    const use = (name) => {
      this.uses.fragments.add(name);
      return `...${name}${this.directives("FRAGMENT_SPREAD")}`;
    };
    if (known.length && random.chance(60)) return use(random.pick(known).name);
    if (this.left < 0) return undefined;
    const type = random.pick(fitting);
    const made = this.tracked(() => `${this.directives("FRAGMENT_DEFINITION")} ${this.selections(type, depth - 1)}`);
    const name = `${random.pick(["F", "fragment", "On", "_"])}${this.fragments.size}`;
    this.fragments.set(name, { ...made, name, type, text: `${this.description()}fragment ${name} on ${type.name}${made.text}` });
    return use(name);
  }

  introspection(parent) {
    const { random, schema } = this;
    if (parent === schema.getQueryType() && !this.isSubscriptionRoot && random.chance(30)) {
      const name = random.pick(Object.keys(schema.getTypeMap()));
      return random.pick([
        "__schema { queryType { name } directives { name isRepeatable args(includeDeprecated: true) { name defaultValue } } }",
        `__type(name: "${name}") { kind name ofType { name } fields(includeDeprecated: true) { name type { name } } inputFields { name isDeprecated } }`,
        "schema: __schema { types { name possibleTypes { name } specifiedByURL isOneOf } }",
      ].filter((text) => this.claim(text.split(/[ ({]/)[0], text)));
    }
    const alias = random.chance(20) ? "kindOf: " : "";
    return `${alias}__typename${this.directives("FIELD")}`;
  }

  claim(key, text) {
    const known = this.keys.get(key);
    if (known) return known.text === text;
    this.keys.set(key, { text });
    return true;
  }

  field(parent, depth, isRoot = false) {
    const { random } = this;
    if (!isRoot && (isUnionType(parent) || random.chance(7))) return this.introspection(parent) ?? "__typename";
    const fields = Object.values(parent.getFields());
    const leaves = fields.filter((field) => !isCompositeType(getNamedType(field.type)));
    const choices = depth > 1 && this.left > 0 ? fields : leaves;
    if (!choices.length && !isRoot) return "__typename";
    const field = random.pick(choices.length ? choices : fields);
    const type = getNamedType(field.type);
    const known = this.keys.get(field.name);
    const shape = String(field.type);
    const isAgain = known?.name === field.name && known.shape === shape && known.parameters === String(field.args.map((arg) => arg.type)) && random.chance(60);
    const args = isAgain ? known.args : this.tracked(() => this.args(field.args, this.variable));
    for (const variable of args.variables) this.uses.variables.add(variable);
    let key = random.chance(20) ? random.pick(ALIASES) : field.name;
    const fits = (it) => !it || (it.name === field.name && it.args?.text === args.text && it.shape === shape);
    for (let at = 2; !fits(this.keys.get(key)); at += 1) key = `${field.name}${at}`;
    this.keys.set(key, { name: field.name, args, shape, parameters: String(field.args.map((arg) => arg.type)) });
    const isNested = this.isSubscriptionRoot;
    const directives = this.directives("FIELD");
    this.isSubscriptionRoot = false;
    const body = isCompositeType(type) ? ` ${this.selections(type, Math.max(depth - 1, 1))}` : "";
    this.isSubscriptionRoot = isNested;
    return `${key === field.name ? "" : `${key}: `}${field.name}${args.text}${directives}${body}`;
  }

  args(definitions, variable, share = 45) {
    const { random } = this;
    const given = definitions.filter((arg) => isRequiredArgument(arg) || random.chance(share));
    const list = given.map((arg) => `${arg.name}: ${literalOf(random, arg.type, { depth: 2, variable, hasDefault: arg.defaultValue !== undefined })}`);
    return list.length ? `(${list.join(", ")})` : "";
  }

  directives(location) {
    const { random } = this;
    if (!random.chance(12)) return "";
    const isConst = location === "VARIABLE_DEFINITION";
    const isConditional = (name) => name === "skip" || name === "include";
    const known = this.schema.getDirectives().filter(({ locations, name }) => locations.includes(location) && !(this.isSubscriptionRoot && isConditional(name)));
    const chosen = random.some(known, 1 + random.below(2)).flatMap((directive) => (directive.isRepeatable && random.chance(40) ? [directive, directive] : [directive]));
    return chosen.map((directive) => ` @${directive.name}${this.args(directive.args, isConst ? undefined : this.variable)}`).join("");
  }

  // sometimes a variable that is allowed where `type` is expected
  variable(type, { hasDefault, isOneOf }) {
    const { random, schema } = this;
    if (!random.chance(22)) return undefined;
    const fits = (it) => !type || isTypeSubTypeOf(schema, it, isOneOf ? new GraphQLNonNull(getNullableType(type)) : type);
    const known = [...this.variables.values()].filter((variable) => fits(variable.type));
    const chosen = known.length && random.chance(50) ? random.pick(known) : this.declare(type ?? schema.getType("Int"), hasDefault, isOneOf);
    this.uses.variables.add(chosen.name);
    return `$${chosen.name}`;
  }

  declare(expected, hasDefault, isOneOf) {
    const { random } = this;
    let type = expected;
    const nullable = getNullableType(expected);
    if (isOneOf || random.chance(25)) type = new GraphQLNonNull(nullable);
    let fallback;
    if (random.chance(35)) {
      const required = new GraphQLNonNull(nullable);
      fallback = literalOf(random, required, { depth: 2 });
      // a default allows a nullable variable at a non-null place
      if (!isOneOf && random.chance(60)) type = nullable;
    } else if (!isOneOf && hasDefault && random.chance(50)) {
      type = nullable;
    }
    const name = `${random.pick(["v", "in", "on", "_"])}${this.variables.size}`;
    const declared = `${this.description()}$${name}: ${type}${fallback === undefined ? "" : ` = ${fallback}`}${this.directives("VARIABLE_DEFINITION")}`;
    const variable = { name, type, text: declared, fallback };
    this.variables.set(name, variable);
    return variable;
  }
}
