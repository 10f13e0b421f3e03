// What graphql-js answers to a request, in a form that says what another executor may answer.
//
// `{ data, errors }`: `data` is the text to be matched by the byte, null or not; `errors` a list of groups, one for each place
// where `data` is null because a field failed. A failure that reached a place from below leaves the choice which of the failures
// below it is told (GraphQL §6.4.4), so a group is a list of candidates, of which at least one must be there. Nothing else may
// be. A candidate is `{ path, locations, message }`, or only `{ path }` where an argument was refused: what is said of it, and whether it
// is said of the argument or of its field, is graphql-js's own.
// `{ refused: true }`: nothing is executed.

import { execute, parse, validate, visit } from "graphql";
import { Failure, World } from "./world.mjs";

const run = (schema, document, { variables, operationName }) =>
  execute({ schema, document, contextValue: new World(), variableValues: variables, operationName });

// Of the nodes that were merged, the first is enough.
const candidate = ({ path, locations, message, originalError }) =>
  originalError instanceof Failure ? { path, locations: [{ line: locations[0].line, column: locations[0].column }], message } : { path };

// where `data` is null on the way to `path`
function nulled(data, path) {
  let value = data;
  for (const [index, segment] of path.entries()) {
    if (value === null) return path.slice(0, index);
    value = value[segment];
  }
  if (value !== null) throw new Error(`a failure at ${path} left a value there`);
  return path;
}

const key = (path) => JSON.stringify(path);

// The document of a request, if it is a valid one.
export function valid(schema, { query }) {
  try {
    const document = parse(query);
    return validate(schema, document).length ? undefined : document;
  } catch {
    return undefined;
  }
}

// Whether a variable gives null to `@skip` or `@include`: graphql-js lets the object around it fail, the specification (§6.3.2) takes
// null for what is not true.
function decidesByNull(document, { variables = {} }) {
  let found = false;
  visit(document, {
    Directive: ({ arguments: [{ value }] }) => {
      found ||= value.kind === "Variable" && variables[value.name.value] === null;
    },
  });
  return found;
}

// `undefined` where there is nothing to judge by.
export async function expected({ strict, loose }, request) {
  const document = valid(strict, request);
  if (!document) return { refused: true };
  if (decidesByNull(document, request)) return undefined;
  const answer = await run(strict, document, request);
  if (!("data" in answer)) return { refused: true };
  const data = JSON.stringify(answer.data);
  const groups = new Map();
  for (const error of answer.errors ?? []) groups.set(key(nulled(answer.data, error.path)), []);
  if (groups.size) {
    const every = (await run(loose, document, request)).errors.map(candidate);
    for (const [place, candidates] of groups) {
      const prefix = JSON.parse(place);
      candidates.push(...every.filter(({ path }) => key(path.slice(0, prefix.length)) === place));
    }
    for (const error of (answer.errors ?? []).map(candidate)) {
      if (!groups.get(key(nulled(answer.data, error.path))).some((it) => JSON.stringify(it) === JSON.stringify(error))) {
        throw new Error(`the loose schema does not have ${JSON.stringify(error)}`);
      }
    }
  }
  return { data, errors: [...groups.values()] };
}
