// Records operations with `@defer` and the responses of graphql-js 17, one JSON line per case.
// usage: node deferred.mjs FILE SEED COUNT
//
// `{ schema, request, first, pending, merged, sent, errors, failures, plain }`:
//   first      text of `data` of the first payload, or of the only one
//   pending    the fragments that it announces: `[path, label]`
//   merged     `data` after the last payload
//   sent       data of the later payloads: `[path, data]`
//   errors     groups of candidates, as in judge.mjs, of the errors of the data that was sent
//   failures   a group of candidates for each fragment that fails: `[path, label, group]`
//   plain      true if the response without `@defer` has the same `data`
//
// The order of `pending` and `sent` may differ, and the payload of each entry of `sent`. Later
// payloads may announce other fragments: one whose fields were all sent with another fragment is
// not announced, which depends on the fragment that is complete first.

import { writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import * as graphql from "graphql-17";
import { compose } from "./compose.mjs";
import { invent } from "./invent.mjs";
import { candidate, nulled } from "./judge.mjs";
import { Reassembled } from "./reassemble.mjs";
import { SEEDS } from "./seeds.mjs";
import { schemaOf } from "./schema.mjs";
import { World } from "./world.mjs";

// see vectors.mjs
process.on("unhandledRejection", () => {});

const { experimentalExecuteIncrementally, parse, validate, visit } = graphql;
const directives = [...graphql.specifiedDirectives, graphql.GraphQLDeferDirective];
const key = (value) => JSON.stringify(value);
const within = (path, place) => key(path.slice(0, place.length)) === key(place);

const argumentsOf = (schema, document, { variables: variableValues, operationName }) =>
  ({ schema, document, contextValue: new World(), variableValues, operationName });

async function reassembled(args) {
  const answer = await experimentalExecuteIncrementally(args);
  const merged = new Reassembled();
  if (!("initialResult" in answer)) {
    merged.whole(answer);
    return { merged, first: answer.data, pending: [] };
  }
  const first = structuredClone(answer.initialResult.data);
  merged.add(answer.initialResult);
  const pending = merged.fragments.map(({ path, label }) => [path, label]);
  for await (const payload of answer.subsequentResults) merged.add(payload);
  if (!merged.isComplete) throw new Error("the last payload is missing");
  return { merged, first, pending };
}

// graphql-js fails the object of a directive whose variable is null
function decidesByNull(document, { variables = {} }) {
  let found = false;
  visit(document, {
    Directive: ({ arguments: given = [] }) => {
      found ||= given.some(({ value }) => value.kind === "Variable" && variables[value.name.value] === null);
    },
  });
  return found;
}

const withoutDefer = (document) => visit(document, { Directive: ({ name }) => (name.value === "defer" ? null : undefined) });

// errors of the merged data by the place that they null
function groupsOf({ data, errors }, every) {
  const groups = new Map();
  for (const error of errors) {
    const place = nulled(data, error.path);
    const group = every.filter(({ path }) => within(path, place));
    if (!group.some((it) => key(it) === key(candidate(error)))) throw new Error(`the loose schema does not have ${key(error)}`);
    groups.set(key(place), group);
  }
  return [...groups.values()];
}

async function expected({ strict, loose }, request) {
  const document = parse(request.query);
  if (validate(strict, document).length || decidesByNull(document, request)) return undefined;
  const { merged, first, pending } = await reassembled(argumentsOf(strict, document, request));
  // a variable was refused, or the response is null as a whole
  if (!first) return undefined;
  const failed = merged.fragments.filter(({ failed }) => failed);
  const isSmooth = !merged.errors.length && !failed.length;
  const every = isSmooth ? [] : (await reassembled(argumentsOf(loose, document, request))).merged.errors.map(candidate);
  const plain = await experimentalExecuteIncrementally(argumentsOf(strict, withoutDefer(document), request));
  const isPlain = isDeepStrictEqual(structuredClone(plain.data), merged.data);
  if (isSmooth && !isPlain && !request.query.includes("mutation")) throw new Error(`graphql-js answers two things: ${request.query}`);
  return {
    first: key(first),
    pending,
    merged: merged.data,
    sent: merged.sent,
    errors: groupsOf(merged, every),
    failures: failed.map(({ path, label }) => [path, label, every.filter((it) => within(it.path, path))]),
    plain: isPlain,
  };
}

// `count` operations on schema number `number`; half of them have failures
async function operations(number, seed, count) {
  const invented = invent(number);
  const made = (options) => schemaOf(invented, { library: graphql, directives, ...options });
  const schemas = { strict: made(), loose: made({ loose: true }) };
  const cases = [];
  let [smooth, whole] = [0, 0];
  for (let next = 0; cases.length < count; next += 1) {
    const request = compose(invented, (Math.imul(number, 0x2000003) ^ Math.imul(seed, 0x20001)) + next, { deferred: true });
    const answer = request.query.includes("@defer") && (await expected(schemas, request));
    if (!answer || key(answer.merged).length > 10_000) continue;
    if (!answer.pending.length && (whole += 1) > count / 10) continue;
    if (!answer.errors.length && !answer.failures.length && (smooth += 1) > count / 2) continue;
    cases.push({ schema: invented.name, request, ...answer });
  }
  return cases;
}

const [file, seed, count] = process.argv.slice(2);
const numbers = SEEDS.filter((number) => number > 0);
const cases = [];
for (const number of numbers) cases.push(...(await operations(number, Number(seed), Math.ceil(count / numbers.length))));
writeFileSync(file, cases.map((it) => `${key(it)}\n`).join(""));
