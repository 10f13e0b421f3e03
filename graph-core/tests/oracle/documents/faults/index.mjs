// Puts one to three faults into a valid document.

import { parse, print } from "graphql";
import { sitesOf } from "../sites.mjs";
import { MERGE_FAULTS } from "./merges.mjs";
import { NAME_FAULTS } from "./names.mjs";
import { USE_FAULTS } from "./uses.mjs";
import { VALUE_FAULTS } from "./values.mjs";

const FAULTS = Object.values({ ...NAME_FAULTS, ...VALUE_FAULTS, ...USE_FAULTS, ...MERGE_FAULTS });
// faults that are often hidden by another first error
FAULTS.push(...Array(3).fill(USE_FAULTS.nullableInOneOf), NAME_FAULTS.repeatedFragment, NAME_FAULTS.fragmentOnLeaf, VALUE_FAULTS.oneOfNull, VALUE_FAULTS.oneOfCount);

// Returns the text of `valid` with faults.
export function addFaults(random, schema, valid) {
  let document = parse(valid, { noLocation: true });
  for (let left = random.pick([1, 1, 1, 2, 3]); left > 0; left -= 1) {
    for (let attempts = 0; attempts < 8; attempts += 1) {
      const sites = sitesOf(schema, document);
      if (!sites.operations.length || !sites.fields.length) break;
      if (random.pick(FAULTS)({ random, schema, document, sites }) !== false) break;
    }
    // nodes may be shared after a fault
    document = structuredClone(document);
  }
  return print(document);
}
