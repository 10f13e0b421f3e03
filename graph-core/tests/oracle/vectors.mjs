// Records operations and graphql-js's responses, one JSON line per case: `{ schema, request, data,
// errors }` or `{ schema, request, refused }`, see judge.mjs; and the schemas as graphql-js prints
// them.
// usage: node vectors.mjs FOLDER            a few hundred, for the repository
//        node vectors.mjs FILE SEED COUNT   others

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { lexicographicSortSchema, printSchema } from "graphql";
import { coercions, offers } from "./coerce.mjs";
import { compose } from "./compose.mjs";
import { invent } from "./invent.mjs";
import { expected, valid } from "./judge.mjs";
import { SEEDS } from "./seeds.mjs";
import { schemaOf } from "./schema.mjs";
import { spoil } from "./spoil.mjs";

// a field that throws synchronously abandons the promises of its list; their rejections are in no
// response
process.on("unhandledRejection", () => {});

const written = (cases) => cases.map((it) => `${JSON.stringify(it)}\n`).join("");

const schemasOf = (invented) => ({ strict: schemaOf(invented), loose: schemaOf(invented, { loose: true }) });
const requestSeed = (number, seed, next) => (Math.imul(number, 0x1000003) ^ Math.imul(seed, 0x10001)) + next;

// returns `count` valid operations on schema number `number`, starting at the seed
async function operations(number, seed, count) {
  const invented = invent(number);
  const schemas = schemasOf(invented);
  const cases = [];
  let smooth = 0;
  for (let next = 0; cases.length < count; next += 1) {
    const request = compose(invented, requestSeed(number, seed, next));
    const answer = await expected(schemas, request);
    // short responses test little, long ones repeat themselves
    if (!answer || answer.refused || answer.data.length < 25 || answer.data.length > 20_000) continue;
    // at least half of the cases have failures
    if (!answer.errors.length && (smooth += 1) > count / 2) continue;
    cases.push({ schema: invented.name, request, ...answer });
  }
  return cases;
}

// `count` invalid operations
async function spoiled(number, seed, count) {
  const invented = invent(number);
  const schemas = schemasOf(invented);
  const cases = [];
  for (let next = 0; cases.length < count; next += 1) {
    const request = compose(invented, requestSeed(number, ~seed, next));
    // long operations are skipped: a change of one token tests little of them
    if (request.query.length > 1000 || !valid(schemas.strict, request)) continue;
    const changed = spoil(request, next);
    const answer = await expected(schemas, changed);
    if (answer && (answer.refused || answer.data.length < 20_000)) cases.push({ schema: invented.name, request: changed, ...answer });
  }
  return cases;
}

const [target, seed, count] = process.argv.slice(2);
const numbers = SEEDS.filter((number) => number > 0);
if (seed === undefined) {
  for (const number of numbers) writeFileSync(join(target, `schema_${number}.jsonl`), written(await operations(number, 1, 100)));
  for (const number of numbers) {
    const sorted = lexicographicSortSchema(schemaOf(invent(number)));
    writeFileSync(join(target, `schema_${number}.graphqls`), `${printSchema(sorted)}\n`);
  }
  writeFileSync(join(target, "spoiled.jsonl"), written(await spoiled(numbers[0], 1, 150)));
  writeFileSync(join(target, "coercion.jsonl"), written(await coercions()));
} else {
  const cases = await offers(Number(seed), Math.ceil(count / 3));
  const share = (parts) => Math.ceil(count / numbers.length / parts);
  for (const number of numbers) cases.push(...(await operations(number, Number(seed), share(1))), ...(await spoiled(number, Number(seed), share(3))));
  writeFileSync(target, written(cases));
}
