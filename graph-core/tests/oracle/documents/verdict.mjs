// Verdict of graphql-js on a document.

import { GraphQLError, Kind, MaxIntrospectionDepthRule, parse, specifiedRules, validate } from "graphql";

const RULES = specifiedRules.filter((rule) => rule !== MaxIntrospectionDepthRule);
// a work budget of graphql-js was exceeded
const ABORTED = "Validation aborted.";

export function describe({ message, locations }) {
  return { message, locations: (locations ?? []).map(({ line, column }) => [line, column]) };
}

// Returns `{ document, error, count }`, or undefined if there is no verdict to compare with.
// `thrown` marks an error that `validate` throws instead of returning it.
export function judge(schema, text) {
  if (!text.isWellFormed()) return undefined;
  const line = verdict(schema, text);
  // a message can end within a surrogate pair
  return line && (line.error?.message ?? "").isWellFormed() ? line : undefined;
}

function verdict(schema, text) {
  let document;
  try {
    document = parse(text);
  } catch (error) {
    if (!(error instanceof GraphQLError)) return undefined;
    return { document: text, error: { ...describe(error), syntax: true }, count: 1 };
  }
  // graphql-js accepts any selection of a missing root type
  if (document.definitions.some(({ kind, operation }) => kind === Kind.OPERATION_DEFINITION && !schema.getRootType(operation))) return undefined;
  let errors;
  try {
    errors = validate(schema, document, RULES, { maxErrors: 100, hideSuggestions: true });
  } catch (error) {
    if (!(error instanceof GraphQLError)) return undefined;
    return { document: text, error: { ...describe(error), syntax: false, thrown: true }, count: 1 };
  }
  if (errors.some(({ message }) => message === ABORTED)) return undefined;
  const error = errors.length ? { ...describe(errors[0]), syntax: false } : null;
  return { document: text, error, count: errors.length };
}
