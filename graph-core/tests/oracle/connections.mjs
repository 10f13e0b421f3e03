// Records pages of graphql-relay, one JSON line per case: `{ length, gone, first, last, after,
// before, page: { ids, next, previous } }`, or `refused` instead of `page`.
//
// A list has the entries 1 to `length` without the removed ones in `gone`. `after` and `before`
// name entries. graphql-relay's cursors are positions: it receives the position that the entry has
// or would have.
// usage: node connections.mjs FILE SEED COUNT

import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { connectionFromArray, connectionFromArraySlice, offsetToCursor } from "graphql-relay";
import { Random } from "./random.mjs";

const DEFAULT = 5;
const MAXIMUM = 12;

function invented(random) {
  const length = random.below(20);
  const entries = Array.from({ length }, (_, at) => at + 1);
  const gone = random.chance(30) ? random.some(entries, random.below(Math.min(length, 6) + 1)) : [];
  const size = () => random.below(MAXIMUM + 4) - 1;
  const entry = () => (length && random.chance(50) ? random.pick(entries) : null);
  const both = random.chance(5);
  const forward = random.chance(45);
  const first = both || forward ? size() : null;
  const last = both || (!forward && random.chance(80)) ? size() : null;
  return { length, gone, first, last, after: entry(), before: entry() };
}

// cases that we refuse and that graphql-relay refuses (negative sizes) or accepts
const refused = ({ first, last }) => {
  if (first !== null && last !== null) return "both";
  const size = first ?? last;
  return size !== null && (size < 0 || size > MAXIMUM) ? "size" : undefined;
};

function page({ length, gone, first, last, after, before }) {
  const left = Array.from({ length }, (_, at) => at + 1).filter((id) => !gone.includes(id));
  const lowest = after === null ? 0 : left.filter((id) => id <= after).length;
  const highest = before === null ? left.length : left.filter((id) => id < before).length;
  // default page; with `before` alone it is the one next to that cursor
  const backward = first === null && last === null && before !== null && after === null;
  const size = { first: first ?? (last === null && !backward ? DEFAULT : null), last: last ?? (backward ? DEFAULT : null) };
  const args = {
    ...size,
    after: after === null ? null : offsetToCursor(lowest - 1),
    before: before === null ? null : offsetToCursor(highest),
  };
  const { edges, pageInfo } = connectionFromArray(left, args);
  // the rows of a store are enough of the list
  const rows = left.slice(lowest, Math.max(lowest, highest));
  const read = size.last === null ? rows.slice(0, size.first + 1) : rows.slice(-size.last - 1);
  const sliceStart = size.last === null ? lowest : lowest + rows.length - read.length;
  const sliced = connectionFromArraySlice(read, args, { sliceStart, arrayLength: left.length });
  // crossed cursors: the end of the slice precedes its start
  if (lowest <= highest) assert.deepStrictEqual(sliced, { edges, pageInfo });
  return { ids: edges.map((edge) => edge.node), next: pageInfo.hasNextPage, previous: pageInfo.hasPreviousPage };
}

const [target, seed, count] = process.argv.slice(2);
const random = new Random(Number(seed));
const lines = Array.from({ length: Number(count) }, () => {
  const asked = invented(random);
  const why = refused(asked);
  return JSON.stringify({ ...asked, ...(why ? { refused: why } : { page: page(asked) }) });
});
writeFileSync(target, lines.map((line) => `${line}\n`).join(""));
