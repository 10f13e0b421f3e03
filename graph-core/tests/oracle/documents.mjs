// Writes schemas and documents with the verdicts of graphql-js, as one JSON object per line.
//
//     node documents.mjs OUT [SEED [COUNT]]
//
// Lines:
//   `{ schema, introspection }`           the schema of the following lines
//   `{ document, error, count }`          `error` is the first one: null or `{ message, locations,
//                                         syntax }`, with `thrown: true` if `validate` throws it
//   `{ document, variables, coerced, error, count }`  result of `getVariableValues`
//
// Left out are documents without a verdict: a work budget of graphql-js was exceeded, the schema
// has no root type for an operation, or a message ends within a surrogate pair.
//
// Prints a table of the first errors. Exits with 1 if a message is not in the table and, in a run
// of 20,000 documents, if a message is rare or fewer than a quarter of the documents are accepted.

import { openSync, writeSync, closeSync } from "node:fs";
import { assertValidSchema, buildSchema, executeSync, getIntrospectionQuery, parse } from "graphql";
import { coerce, operationWithVariables, variablesFor } from "./documents/coercion.mjs";
import { addFaults } from "./documents/faults/index.mjs";
import { composeOverlaps } from "./documents/faults/overlaps.mjs";
import { composeSubscription } from "./documents/faults/subscriptions.mjs";
import { breakSyntax } from "./documents/faults/syntax.mjs";
import { COERCIONS, operationOf } from "./documents/hand/coercions.mjs";
import { HAND_DOCUMENTS, HAND_SCHEMA } from "./documents/hand/index.mjs";
import { Counts } from "./documents/messages.mjs";
import { mutate } from "./documents/mutants.mjs";
import { Composer } from "./documents/operations.mjs";
import { restyle } from "./documents/restyle.mjs";
import { inventSdl } from "./documents/sdl.mjs";
import { judge } from "./documents/verdict.mjs";
import { Random } from "./random.mjs";

const SCHEMAS = 12;
const FULL_RUN = 20_000;
// first errors that a message must have in a full run
const LEAST = 20;

const [out, seed = "1", count = String(FULL_RUN)] = process.argv.slice(2);
const random = new Random(Number(seed));
const counts = new Counts();
const file = openSync(out, "w");
let variableLines = 0;
const emit = (line) => writeSync(file, `${JSON.stringify(line)}\n`);

const INTROSPECTION = parse(getIntrospectionQuery({
  descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true, inputValueDeprecation: true, oneOf: true,
}));

function emitSchema(sdl) {
  const schema = buildSchema(sdl);
  assertValidSchema(schema);
  const { data, errors } = executeSync({ schema, document: INTROSPECTION });
  if (errors) throw errors[0];
  emit({ schema: sdl, introspection: data });
  return schema;
}

// true if graphql-js has a verdict
function emitDocument(schema, text) {
  const line = judge(schema, text);
  if (!line) return false;
  counts.add(line);
  emit(line);
  if (!line.error && random.chance(40)) emitVariables(schema, text);
  return true;
}

function emitVariables(schema, text) {
  const operation = operationWithVariables(parse(text));
  const line = operation && coerce(schema, text, operation, variablesFor(random, schema, operation));
  if (!line) return;
  variableLines += 1;
  emit(line);
}

// restyles a document unless it cannot be lexed
function styled(text) {
  try {
    return restyle(random, text);
  } catch {
    return text;
  }
}

// documents to mutate; the oldest are replaced
class Pool {
  #texts = [];

  add(text) {
    if (this.#texts.length < 200) this.#texts.push(text);
    else this.#texts[random.below(200)] = text;
    return text;
  }

  pick() {
    return random.pick(this.#texts);
  }
}

function next(schema, pool, broken) {
  const choice = random.below(100);
  const valid = () => new Composer(random, schema, { size: random.pick([2, 6, 14]) }).compose();
  if (choice < 24) return pool.add(styled(valid()));
  if (choice < 41) return broken.add(styled(addFaults(random, schema, valid())));
  if (choice < 45) return broken.add(styled(composeOverlaps(random, schema)));
  if (choice < 49 && schema.getSubscriptionType()) return broken.add(styled(composeSubscription(random, schema)));
  if (choice < 58) return broken.add(breakSyntax(random, valid()));
  return mutate(random, schema, (random.chance(75) ? pool : broken).pick());
}

const hand = emitSchema(HAND_SCHEMA);
for (const [, text] of HAND_DOCUMENTS) {
  if (!emitDocument(hand, text)) throw new Error(`no verdict on ${JSON.stringify(text)}`);
}
for (const [, declarations, variables] of COERCIONS) {
  const text = operationOf(declarations);
  emit(coerce(hand, text, operationWithVariables(parse(text)), variables));
}
// a COUNT of 0 leaves the hand-written documents alone
for (let at = 0; at < (Number(count) ? SCHEMAS : 0); at += 1) {
  const schema = emitSchema(inventSdl(random));
  const pool = new Pool();
  const broken = new Pool();
  // something to mutate from the start
  for (const one of [pool, broken]) one.add(new Composer(random, schema).compose());
  const end = Math.round((Number(count) * (at + 1)) / SCHEMAS);
  while (counts.total < end) emitDocument(schema, next(schema, pool, broken));
}
closeSync(file);

console.error(`seed ${seed}: ${variableLines} random and ${COERCIONS.length} hand-written variables`);
console.error(counts.table());
const faults = counts.faults(LEAST, Number(count) >= FULL_RUN);
for (const fault of faults) console.error(`documents.mjs: ${fault}`);
process.exitCode = faults.length ? 1 : 0;
