// Checks the vectors of this folder with implementations that share no code with the suite.
//
//   node docs/vectors/run.mjs              prints the number of cases of each list; exit 1 on a difference
//   node docs/vectors/run.mjs --self-test  changes one expectation of each list and demands the difference
import { readFileSync, readdirSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import * as conventions from "./javascript/conventions.mjs";
import * as oauth from "./javascript/oauth.mjs";
import * as webhooks from "./javascript/webhooks.mjs";

// file → list → implementation of one case
const CHECKS = {
  "cursors.json": { cases: conventions.cursor },
  "dpop.json": {
    proofs: oauth.proof,
    thumbprints: oauth.thumbprint,
    token_hashes: oauth.tokenHash,
    urls: oauth.url,
  },
  "idempotency.json": {
    decisions: conventions.claim,
    fingerprints: conventions.fingerprint,
    keys: conventions.idempotencyKey,
    record_keys: conventions.recordKey,
  },
  "pkce.json": { challenges: oauth.challenge, pairs: oauth.pair },
  "preconditions.json": { cases: conventions.precondition },
  "problems.json": { received: conventions.problem },
  "rate-limits.json": { quotas: conventions.quota, sequences: conventions.sequence },
  "redirect-uris.json": { matches: oauth.redirect, uris: oauth.redirectUri },
  "retries.json": {
    delays: conventions.delay,
    retry_after: conventions.retryAfter,
    waits: conventions.wait,
  },
  "webhook-signatures.json": { cases: webhooks.judge },
  "webhook-providers.json": { cases: webhooks.judge },
};

const folder = new URL(".", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, folder), "utf8"));

function run(judge, list, file) {
  return list.flatMap((testCase) => {
    const found = judge(testCase, file);
    return isDeepStrictEqual(found, testCase.expect) ? [] : [{ name: testCase.name, expect: testCase.expect, found }];
  });
}

// The expectation, changed: the opposite where there is one.
function flip(expect) {
  if (typeof expect === "boolean") return !expect;
  if (typeof expect?.accepted === "boolean") return { ...expect, accepted: !expect.accepted };
  return { not: expect };
}

const isSelfTest = process.argv.includes("--self-test");
let [failed, total] = [0, 0];
for (const name of readdirSync(folder).filter((name) => name.endsWith(".json")).sort()) {
  const file = read(name);
  const lists = Object.keys(file).filter((key) => Array.isArray(file[key]));
  if (String(lists.sort()) !== String(Object.keys(CHECKS[name] ?? {}).sort())) {
    throw new Error(`${name}: no implementation checks exactly the lists ${lists}`);
  }
  for (const list of lists) {
    const cases = isSelfTest
      ? file[list].map((one, at) => (at === 0 ? { ...one, expect: flip(one.expect) } : one))
      : file[list];
    const differences = run(CHECKS[name][list], cases, file);
    total += cases.length;
    if (isSelfTest) {
      if (differences.length !== 1 || differences[0].name !== cases[0].name) {
        throw new Error(`${name}, ${list}: the changed expectation is not the only difference`);
      }
      continue;
    }
    failed += differences.length;
    for (const difference of differences) console.error(`${name}, ${list}: ${JSON.stringify(difference)}`);
    console.log(`${String(cases.length).padStart(5)}  ${name}, ${list}`);
  }
}
console.log(isSelfTest ? "each changed expectation was found" : `${total} cases, ${failed} differences`);
process.exitCode = failed === 0 && total > 0 ? 0 : 1;
