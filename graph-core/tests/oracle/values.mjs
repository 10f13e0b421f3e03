// Values for arguments and variables: as GraphQL literals and as JSON.

const STRINGS = ["", "a", "two words", 'with "quotes"', "back\\slash", "line\nfeed", "grüße", "日本語", "\u0007"];
const NUMBERS = { Int: [0, 1, -1, 7, 2147483647, -2147483648], Float: [0, 0.5, -2.25, 3, 1000000] };
const IDS = ["id-1", "0", "017", "x y"];

const json = (value) => ({ json: value, text: String(value) });

// a string literal: quoted, or as a block string if it preserves the text
function quoted(random, value) {
  const plain = !/["\\\u0000-\u001f]/.test(value) && value.trim() === value && value !== "";
  if (plain && random.chance(20)) return `"""${value}"""`;
  if (random.chance(20) && value) return `"${[...value].map((c) => (/[\w ]/.test(c) ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)).join("")}"`;
  return JSON.stringify(value);
}

function scalar(random, schema, name) {
  switch (name) {
    case "Int": return json(random.pick(NUMBERS.Int));
    case "Float": {
      const value = random.pick(NUMBERS.Float);
      return { json: value, text: value === 1000000 && random.chance(50) ? "1e6" : String(value) };
    }
    case "Boolean": return json(random.chance(50));
    case "ID": {
      if (random.chance(30)) return json(random.below(1000));
      const value = random.pick(IDS);
      return { json: value, text: JSON.stringify(value) };
    }
    case "String": {
      const value = random.pick(STRINGS);
      return { json: value, text: quoted(random, value) };
    }
  }
  const definition = schema.byName.get(name);
  if (definition.kind !== "enum") return undefined;
  const value = random.pick(definition.values);
  return { json: value, text: value };
}

// Returns `{ json, text }` of a value of `type`; `variable(type, fallback)` may return a variable's
// text instead, which has no JSON.
export function valueOf(random, schema, type, variable = () => undefined, camel = (name) => name) {
  if (type.nullable && random.chance(15)) return json(null);
  if (type.list) {
    // a single item is coerced to a list
    if (random.chance(15) && !type.of.list) {
      const item = part(random, schema, type.of, variable, camel);
      if (item.json !== null && !item.text.startsWith("$")) return item;
    }
    const items = Array.from({ length: random.below(3) }, () => part(random, schema, type.of, variable, camel));
    return { json: items.map((item) => item.json), text: `[${items.map((item) => item.text).join(random.pick([", ", " ", ",\n  "]))}]` };
  }
  const known = scalar(random, schema, type.of);
  if (known) return known;
  const fields = [];
  for (const field of schema.byName.get(type.of).fields) {
    const needed = !field.type.nullable && field.fallback === undefined;
    if (!needed && random.chance(45)) continue;
    fields.push([camel(field.name), part(random, schema, field.type, variable, camel, field.fallback)]);
  }
  return {
    json: Object.fromEntries(fields.map(([name, value]) => [name, value.json])),
    text: `{${fields.map(([name, value]) => `${name}: ${value.text}`).join(", ")}}`,
  };
}

function part(random, schema, type, variable, camel, fallback) {
  return variable(type, fallback) ?? valueOf(random, schema, type, variable, camel);
}
