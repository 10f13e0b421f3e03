// Bundles the libraries in `node_modules` to the folder that the first argument names, and collects
// the licences of the packages in the bundles.
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const [out] = process.argv.slice(2);
const source = (name) => ({ path: resolve("source", name) });

// leaves out what the explorer does not use
const smaller = {
  name: "smaller",
  setup({ onResolve }) {
    onResolve({ filter: /\/edcore\.main\.js$/ }, () => source("monaco.js"));
    onResolve({ filter: /\/(multiDiffEditorWidget|diffEditorWidget)\.js$/ }, () => source("unused.js"));
    onResolve({ filter: /^prettier\// }, ({ importer }) => {
      if (importer.endsWith("/utility/jsonc.js")) return source("json-format.js");
      return importer.includes("/monaco-graphql/") ? source("graphql-format.js") : undefined;
    });
    // a second copy of the plugin
    onResolve({ filter: /^prettier\/parser-graphql$/ }, () => ({ path: resolve("node_modules/prettier/plugins/graphql.mjs") }));
  },
};

const { metafile } = await build({
  entryPoints: ["source/graphiql.js", "source/worker.js"],
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2023",
  define: { "process.env.NODE_ENV": '"production"' },
  loader: { ".ttf": "file" },
  assetNames: "[name]",
  legalComments: "none",
  metafile: true,
  plugins: [smaller],
  logLevel: "warning",
});

// Redoc asks another origin for its logo, which the page's policy would refuse, and has a colour for
// patterns that is too dark on a dark page
const changes = { "https://cdn.redoc.ly/redoc/logo-mini.svg": "/assets/icon.svg", "color: #0e7c86;": "color: var(--soft);" };
let redoc = await readFile("node_modules/redoc/bundles/redoc.standalone.js", "utf8");
for (const [text, other] of Object.entries(changes)) {
  if (redoc.split(text).length !== 2) throw new Error(`redoc.standalone.js: ${text} is not there once`);
  redoc = redoc.replace(text, other);
}
await writeFile(join(out, "redoc.js"), redoc.replace(/^\/\/# sourceMappingURL=.*\n?/m, ""));

const read = async (file) => JSON.parse(await readFile(file, "utf8"));
const { packages } = await read("package-lock.json");

// the installed packages that the bundle of Redoc may contain
const closure = (folder, found) => {
  if (found.has(folder)) return found;
  found.add(folder);
  for (const name of Object.keys(packages[folder].dependencies ?? {})) {
    let from = folder;
    while (!packages[join(from, "node_modules", name)]) from = from.slice(0, Math.max(0, from.lastIndexOf("node_modules/") - 1));
    closure(join(from, "node_modules", name), found);
  }
  return found;
};
const bundled = Object.keys(metafile.inputs).map((path) => path.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/)?.[0]).filter(Boolean);
const folders = [...new Set([...bundled, ...closure("node_modules/redoc", new Set())])].sort();
const texts = new Map();
for (const folder of folders) {
  const { name, version, license } = await read(join(folder, "package.json"));
  const file = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file));
  const text = file ? (await readFile(join(folder, file), "utf8")).replaceAll("\r\n", "\n").replace(/[ \t]+$/gm, "").trim() : "The package has no file with its licence.";
  texts.set(text, [...(texts.get(text) ?? []), `${name} ${version} (${license ?? "see below"})`]);
}
const sections = [...texts].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`);
await writeFile(join(out, "LICENCES.txt"), sections.join(`\n${"-".repeat(80)}\n\n`));
if (process.env.META) await writeFile(process.env.META, JSON.stringify(metafile));
