// Coercion of variables by graphql-js, and random variables for valid documents.

import { getNamedType, getNullableType, getVariableValues, isEnumType, isInputObjectType, isListType, isNonNullType, isRequiredInputField, Kind, typeFromAST } from "graphql";
import { STRINGS } from "./text.mjs";
import { describe } from "./verdict.mjs";

const NUMBERS = [0, 1, -1, 42, 2147483647, -2147483648];
const WRONG = [0, 1.5, -1, 2147483648, -2147483649, 9007199254740991, "", "1", "RED", "red", true, false, null, [], [null], {}, { a: 1 }, [1, "2"], [[[]]], { id: null }, { id: 1, name: "a" }];

// true if all implementations can write all numbers alike
function isExact(value) {
  if (typeof value === "number") return Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (typeof value === "string") return value.isWellFormed();
  return value === null || typeof value !== "object" || Object.values(value).every(isExact);
}

// Returns `{ document, variables, coerced, error, count }` for the operation of a valid document,
// or undefined if the numbers would not be exact.
export function coerce(schema, text, operation, variables) {
  const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variables, { maxErrors: 50, hideSuggestions: true });
  if (!isExact(coerced ?? null)) return undefined;
  const error = errors ? describe(errors[0]) : null;
  return { document: text, variables, coerced: coerced ?? null, error, count: errors?.length ?? 0 };
}

function leaf(random, type) {
  if (isEnumType(type)) return random.pick(type.getValues()).name;
  switch (type.name) {
    case "Int": return random.pick(NUMBERS);
    case "Float": return random.pick([...NUMBERS, 1.5, -0.25, 0.30000000000000004, 1e-7, 2147483648]);
    case "String": return random.pick(STRINGS);
    case "Boolean": return random.chance(50);
    case "ID": return random.pick([...NUMBERS, ...STRINGS]);
    default: return random.pick(WRONG);
  }
}

// `share` percent of the values may be wrong
function json(random, type, depth, share) {
  if (random.chance(share)) return random.pick(WRONG);
  if (!isNonNullType(type) && random.chance(10)) return null;
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const item = () => json(random, nullable.ofType, depth - 1, share);
    return random.chance(20) ? item() : Array.from({ length: random.below(4) }, item);
  }
  return isInputObjectType(nullable) ? object(random, nullable, depth, share) : leaf(random, nullable);
}

function object(random, type, depth, share) {
  const fields = Object.values(type.getFields());
  const leaves = fields.filter((field) => !isInputObjectType(getNamedType(field.type)));
  if (type.isOneOf) {
    const { name, type: inner } = random.pick(depth > 0 ? fields : leaves);
    return { [name]: json(random, inner, depth - 1, share) ?? "x" };
  }
  const given = fields.filter((field) => (random.chance(share) ? random.chance(50) : isRequiredInputField(field) || (depth > 0 && random.chance(40))));
  if (random.chance(30)) given.reverse();
  const entries = given.map((field) => [field.name, json(random, field.type, depth - 1, share)]);
  if (random.chance(share)) entries.splice(random.below(entries.length + 1), 0, [random.pick(["nope", "From", "", "a b"]), 1]);
  return Object.fromEntries(entries);
}

// Returns the only operation of a document if it has variables.
export function operationWithVariables(document) {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return operations.length === 1 && operations[0].variableDefinitions?.length ? operations[0] : undefined;
}

export function variablesFor(random, schema, operation) {
  const share = random.pick([0, 0, 3, 10, 30]);
  const given = operation.variableDefinitions.filter(({ type, defaultValue }) => (type.kind === Kind.NON_NULL_TYPE && !defaultValue && !random.chance(share)) || random.chance(60));
  const entries = given.map(({ variable, type }) => [variable.name.value, json(random, typeFromAST(schema, type), 3, share)]);
  if (random.chance(10)) entries.push(["undeclared", random.pick(WRONG)]);
  return Object.fromEntries(entries);
}
