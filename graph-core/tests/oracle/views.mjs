// Builds a schema of each introspection in FILE, one a line, and validates it.
// usage: node views.mjs FILE

import { readFileSync } from "node:fs";
import { buildClientSchema, validateSchema } from "graphql";

const lines = readFileSync(process.argv[2], "utf8").trimEnd().split("\n");
for (const [at, line] of lines.entries()) {
  const mistakes = validateSchema(buildClientSchema(JSON.parse(line)));
  if (mistakes.length) throw new Error(`view ${at}: ${mistakes.join("; ")}`);
}
console.log(`${lines.length} views of a schema are valid`);
