// Valid literals for input types, and names of input types.

import { getNamedType, getNullableType, isEnumType, isInputObjectType, isListType, isNonNullType, isRequiredInputField } from "graphql";
import { block, FLOATS, INTEGERS, LARGE_INTEGERS, quote, STRINGS } from "./text.mjs";

const NO_VARIABLES = () => undefined;

function list(random, items) {
  return `[${items.join(random.pick([", ", " ", ","]))}]`;
}

function object(random, fields) {
  return `{${fields.map(([name, value]) => `${name}: ${value}`).join(random.pick([", ", " "]))}}`;
}

export function stringOf(random) {
  const value = random.pick(STRINGS);
  return random.chance(15) ? block(random, value) : quote(random, value);
}

// `variable` of the literals in a schema
export const NO_VARIABLES_IN_SCHEMA = Object.assign(() => undefined, { isSchema: true });

// literal without a type, not null, for custom scalars
export function untyped(random, depth, variable = NO_VARIABLES) {
  const inner = () => variable() ?? (random.chance(10) ? "null" : untyped(random, depth - 1, variable));
  const choices = [
    () => random.pick(INTEGERS), () => random.pick(FLOATS), () => random.pick(LARGE_INTEGERS), () => stringOf(random), () => random.pick(["true", "false"]), () => random.pick(["RED", "on", "query", "_"]),
  ];
  if (depth > 0) {
    choices.push(() => list(random, Array.from({ length: random.below(4) }, inner)));
    choices.push(() => object(random, ["a", "b", "type", "on"].slice(0, random.below(5)).map((name) => [name, inner()])));
  }
  return random.pick(choices)();
}

function scalar(random, name, depth, variable) {
  switch (name) {
    case "Int": return random.pick(INTEGERS);
    case "Float": return random.pick(random.chance(60) ? FLOATS : [...INTEGERS, ...LARGE_INTEGERS]);
    case "String": return stringOf(random);
    case "Boolean": return random.pick(["true", "false"]);
    case "ID": return random.chance(50) ? stringOf(random) : random.pick([...INTEGERS, ...LARGE_INTEGERS]);
    // introspection prints no default that has objects or lists in a custom scalar
    default: return untyped(random, variable.isSchema ? 0 : Math.min(depth, 2), () => variable(undefined, {}));
  }
}

function inputObject(random, type, depth, variable) {
  const fields = Object.values(type.getFields());
  const inner = (field, isOneOf) => [field.name, literalOf(random, field.type, { depth: depth - 1, variable, hasDefault: field.defaultValue !== undefined, isOneOf })];
  if (type.isOneOf) {
    const leaves = fields.filter((field) => !isInputObjectType(getNamedType(field.type)));
    return object(random, [inner(random.pick(depth > 0 ? fields : leaves), true)]);
  }
  const given = fields.filter((field) => isRequiredInputField(field) || (depth > 0 && random.chance(40)));
  if (random.chance(30)) given.reverse();
  return object(random, given.map((field) => inner(field, false)));
}

// literal of `type`; `variable(type, { hasDefault, isOneOf })` may return a variable instead
export function literalOf(random, type, { depth = 3, variable = NO_VARIABLES, hasDefault = false, isOneOf = false } = {}) {
  const given = variable(type, { hasDefault, isOneOf });
  if (given) return given;
  if (!isNonNullType(type) && !isOneOf && random.chance(8)) return "null";
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const item = (options) => literalOf(random, nullable.ofType, { depth: depth - 1, ...options });
    // a single item is coerced to a list
    if (random.chance(20)) {
      const single = item(variable.isSchema ? { variable } : {});
      return single === "null" ? "[]" : single;
    }
    return list(random, Array.from({ length: random.below(4) }, () => item({ variable })));
  }
  if (isEnumType(nullable)) return random.pick(nullable.getValues()).name;
  if (isInputObjectType(nullable)) return inputObject(random, nullable, depth, variable);
  return scalar(random, nullable.name, depth, variable);
}
