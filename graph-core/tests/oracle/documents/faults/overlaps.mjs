// Composes documents whose fields often have the same response key: some can be merged, some
// conflict.

import { getNamedType, isAbstractType, isCompositeType, isRequiredArgument, isUnionType } from "graphql";
import { literalOf } from "../literals.mjs";

const KEYS = ["a", "b", "id", "__typename"];

class Overlaps {
  constructor(random, schema) {
    Object.assign(this, { random, schema, left: 24 });
    this.composites = Object.values(schema.getTypeMap()).filter((type) => isCompositeType(type) && !type.name.startsWith("__"));
    this.fragments = new Map();
    this.spellings = new Map();
    // few fields per type, so that they meet again
    this.favorites = new Map();
  }

  favoritesOf(type) {
    const { random } = this;
    if (!this.favorites.has(type)) this.favorites.set(type, random.some(Object.values(type.getFields()), 4));
    return this.favorites.get(type);
  }

  // few spellings per argument, so that arguments are often equal
  spelling(arg) {
    const { random } = this;
    const known = this.spellings.get(arg) ?? [];
    if (known.length < 2) known.push(literalOf(random, arg.type, { depth: 2 }));
    this.spellings.set(arg, known);
    const text = random.chance(70) ? known[0] : random.pick(known);
    // the same object in another order, and lists of another length
    if (random.chance(15)) return text.replace(/^\{(\w+: [\w.]+),? (\w+: [\w.]+)\}$/, "{$2, $1}").replace(/^\[(\w+)\]$/, "[$1, $1]");
    return text;
  }

  args(field) {
    const { random } = this;
    let given = field.args.filter((arg) => isRequiredArgument(arg) || random.chance(40)).map((arg) => `${arg.name}: ${this.spelling(arg)}`);
    if (random.chance(30)) given = given.reverse();
    return given.length ? `(${given.join(", ")})` : "";
  }

  selections(type, depth) {
    const items = Array.from({ length: 2 + this.random.below(3) }, () => this.selection(type, depth)).filter(Boolean);
    return `{ ${items.length ? items.join(" ") : "__typename"} }`;
  }

  possible(type) {
    return isAbstractType(type) ? this.schema.getPossibleTypes(type) : [type];
  }

  selection(type, depth) {
    const { random } = this;
    this.left -= 1;
    const choice = random.below(100);
    const isAbstract = isAbstractType(type);
    if (depth > 0 && this.left > 0 && choice < (isAbstract ? 50 : 12)) {
      const on = random.chance(80) ? random.pick(this.possible(type)) : random.pick(this.composites.filter((it) => this.possible(it).some((one) => this.possible(type).includes(one))));
      return `... ${random.chance(10) ? "" : `on ${on.name} `}${this.selections(on, depth - 1)}`;
    }
    if (depth > 0 && choice < 65 && choice > 45) return this.spread(type, depth);
    if (isUnionType(type)) return random.pick(["__typename", "a: __typename", "id: __typename"]);
    return this.field(type, depth);
  }

  spread(type, depth) {
    const { random } = this;
    const fits = (it) => this.possible(it).some((one) => this.possible(type).includes(one));
    const known = [...this.fragments].filter(([, fragment]) => fits(fragment.type));
    if (known.length && (this.left < 0 || random.chance(60))) return `...${random.pick(known)[0]}`;
    if (this.left < 0 || this.fragments.size > 4) return undefined;
    const name = `F${this.fragments.size}`;
    const on = random.chance(50) ? type : random.pick(this.composites.filter(fits));
    const fragment = { type: on };
    // registered first, so that fragments may spread each other
    if (random.chance(15)) this.fragments.set(name, fragment);
    const body = this.selections(on, depth - 1);
    const free = this.fragments.has(name) && this.fragments.get(name) !== fragment ? `F${this.fragments.size}x` : name;
    fragment.text = `fragment ${free} on ${on.name} ${body}`;
    this.fragments.set(free, fragment);
    return `...${free}`;
  }

  field(type, depth) {
    const { random } = this;
    if (random.chance(6)) return random.pick(["__typename", "a: __typename", "b: __typename"]);
    const fields = this.favoritesOf(type).filter((field) => (depth > 0 && this.left > 0) || !isCompositeType(getNamedType(field.type)));
    if (!fields.length) return "__typename";
    const field = random.pick(fields);
    const inner = getNamedType(field.type);
    const key = random.chance(35) ? `${random.pick(KEYS)}: ` : "";
    return `${key}${field.name}${this.args(field)}${isCompositeType(inner) ? ` ${this.selections(inner, depth - 1)}` : ""}`;
  }

  compose() {
    const { random, schema } = this;
    const root = random.chance(85) ? schema.getQueryType() : schema.getMutationType() ?? schema.getQueryType();
    const composites = Object.values(root.getFields()).filter((field) => isCompositeType(getNamedType(field.type)));
    if (composites.length) this.favorites.set(root, random.some(composites, 2));
    const body = this.selections(root, 4);
    const definitions = [`${root === schema.getQueryType() ? "query " : "mutation "}${body}`, ...[...this.fragments.values()].map(({ text }) => text)];
    if (random.chance(40)) definitions.reverse();
    return definitions.join("\n");
  }
}

export function composeOverlaps(random, schema) {
  return new Overlaps(random, schema).compose();
}
