// Operations and what graphql-js answers to them, one line of JSON a case: `{ schema, request, data, errors }` or
// `{ schema, request, refused }`, explained in judge.mjs.
// usage: node vectors.mjs FOLDER            a few hundred, for the repository
//        node vectors.mjs FILE SEED COUNT   others

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { coercions } from "./coerce.mjs";
import { compose } from "./compose.mjs";
import { invent } from "./invent.mjs";
import { expected } from "./judge.mjs";
import { SEEDS } from "./seeds.mjs";
import { schemaOf } from "./schema.mjs";

// a field that throws at once leaves the promises of its list behind; what they reject with is in no response
process.on("unhandledRejection", () => {});

const written = (cases) => cases.map((it) => `${JSON.stringify(it)}\n`).join("");

// `count` cases on schema number `number`, from the seed on
async function operations(number, seed, count) {
  const invented = invent(number);
  const schemas = { strict: schemaOf(invented), loose: schemaOf(invented, { loose: true }) };
  const cases = [];
  let smooth = 0;
  for (let next = 0; cases.length < count; next += 1) {
    const request = compose(invented, (Math.imul(number, 0x1000003) ^ Math.imul(seed, 0x10001)) + next);
    const answer = await expected(schemas, request);
    // what is answered shortly says little, what is long says it again
    if (!answer || answer.data?.length < 25 || answer.data?.length > 20_000) continue;
    // failures are in half of the cases at least
    if (!answer.errors?.length && (smooth += 1) > count / 2) continue;
    cases.push({ schema: invented.name, request, ...answer });
  }
  return cases;
}

const [target, seed, count] = process.argv.slice(2);
const numbers = SEEDS.filter((number) => number > 0);
if (seed === undefined) {
  for (const number of numbers) writeFileSync(join(target, `schema_${number}.jsonl`), written(await operations(number, 1, 100)));
  writeFileSync(join(target, "coercion.jsonl"), written(await coercions()));
} else {
  const cases = [];
  for (const number of numbers) cases.push(...(await operations(number, Number(seed), Math.ceil(count / numbers.length))));
  writeFileSync(target, written(cases));
}
