// Writes the generated schemas as Rust sources into the integration tests.
// usage: node schemas.mjs FOLDER

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { invent } from "./invent.mjs";
import { rustOf } from "./rust.mjs";
import { SEEDS, TWIN } from "./seeds.mjs";

const folder = process.argv[2];
const write = (name, files) => {
  mkdirSync(join(folder, name), { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), text);
};
for (const seed of SEEDS) {
  const schema = invent(seed);
  write(schema.name, rustOf(schema));
  if (seed === TWIN) write(`${schema.name}_twin`, rustOf(schema, { twin: true }));
}
