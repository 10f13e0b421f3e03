// Operations and what graphql-js answers to them, one line of JSON a case: `{ schema, request, data, errors }` or
// `{ schema, request, refused }`, explained in judge.mjs; and the schemas as graphql-js writes them.
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

// a field that throws at once leaves the promises of its list behind; what they reject with is in no response
process.on("unhandledRejection", () => {});

const written = (cases) => cases.map((it) => `${JSON.stringify(it)}\n`).join("");

const schemasOf = (invented) => ({ strict: schemaOf(invented), loose: schemaOf(invented, { loose: true }) });
const requestSeed = (number, seed, next) => (Math.imul(number, 0x1000003) ^ Math.imul(seed, 0x10001)) + next;

// `count` valid operations on schema number `number`, from the seed on
async function operations(number, seed, count) {
  const invented = invent(number);
  const schemas = schemasOf(invented);
  const cases = [];
  let smooth = 0;
  for (let next = 0; cases.length < count; next += 1) {
    const request = compose(invented, requestSeed(number, seed, next));
    const answer = await expected(schemas, request);
    // what is answered shortly says little, what is long says it again
    if (!answer || answer.refused || answer.data.length < 25 || answer.data.length > 20_000) continue;
    // failures are in half of the cases at least
    if (!answer.errors.length && (smooth += 1) > count / 2) continue;
    cases.push({ schema: invented.name, request, ...answer });
  }
  return cases;
}

// `count` spoiled ones
async function spoiled(number, seed, count) {
  const invented = invent(number);
  const schemas = schemasOf(invented);
  const cases = [];
  for (let next = 0; cases.length < count; next += 1) {
    const request = compose(invented, requestSeed(number, ~seed, next));
    // where little is left of it, little is looked at
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
