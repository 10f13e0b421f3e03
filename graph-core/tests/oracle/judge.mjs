// Records the response of graphql-js and the variations that another executor may have.
//
// `{ data, errors }`: `data` must match byte for byte. `errors` is a list of groups, one for each
// position where `data` is null because a field failed. If several failures below a position
// propagate to it, any of them may be reported (GraphQL §6.4.4), so a group is a list of candidates
// of which at least one must be present. No other errors may be present. A candidate is `{ path,
// locations, message }`, or only `{ path }` if an argument was refused, because message and
// location differ between executors.
// `{ refused: true }`: nothing is executed.

import { execute, parse, validate, visit } from "graphql";
import { Failure, World } from "./world.mjs";

const run = (schema, document, { variables, operationName }) =>
  execute({ schema, document, contextValue: new World(), variableValues: variables, operationName });

// The first of the merged nodes is sufficient.
export const candidate = ({ path, locations, message, originalError }) =>
  originalError instanceof Failure ? { path, locations: [{ line: locations[0].line, column: locations[0].column }], message } : { path };

// positions on `path` where `data` is null
export function nulled(data, path) {
  let value = data;
  for (const [index, segment] of path.entries()) {
    if (value === null) return path.slice(0, index);
    value = value[segment];
  }
  if (value !== null) throw new Error(`a failure at ${path} left a value there`);
  return path;
}

const key = (path) => JSON.stringify(path);

// Returns the document of a valid request.
export function valid(schema, { query }) {
  try {
    const document = parse(query);
    return validate(schema, document).length ? undefined : document;
  } catch {
    return undefined;
  }
}

// Returns true if a variable gives null to `@skip` or `@include`: graphql-js fails the parent
// object, the specification (§6.3.2) treats null as false.
function decidesByNull(document, { variables = {} }) {
  let found = false;
  visit(document, {
    Directive: ({ arguments: [{ value }] }) => {
      found ||= value.kind === "Variable" && variables[value.name.value] === null;
    },
  });
  return found;
}

// `undefined` if the case cannot be compared.
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
