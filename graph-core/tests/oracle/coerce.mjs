// Records which values graphql-js accepts for arguments of every input type and how it coerces
// them: variables, literals, and defaults of both. The fields of schema 0 return their arguments.

import { execute } from "graphql";
import { invent } from "./invent.mjs";
import { valid } from "./judge.mjs";
import { Random } from "./random.mjs";
import { schemaOf } from "./schema.mjs";
import { camel, nameOf, print } from "./types.mjs";
import { valueOf } from "./values.mjs";

const VALUES = [
  null, 0, 1, -1, 2147483647, 2147483648, -2147483648, -2147483649, 1.5, 1.0, 1e3, true, false, "", "1", "RED", "red", "SMALL", "a text",
  [], [null], [1], [1, null], [[1]], [[1], null, [2, 3]], [["a"]], ["a", null], ["RED"], ["RED", "PINK"], [true], [1.5], {}, [{}],
  { colours: [] }, { from: 1, colours: "RED" }, { from: null, colours: ["RED"] }, { from: 1, toWhere: null, colours: [] },
  { from: 1, toWhere: 2, colours: null }, { from: "1", colours: [] }, { from: 1, colours: [], other: 1 }, [{ colours: [] }, null],
  { ratio: 1 }, { ratio: 1, text: null }, { ratio: null }, { ratio: 0.5, spans: { colours: [] } }, { ratio: 0.5, spans: [{ from: null }], span: { colours: [] } },
  { ratio: 2, text: "t", span: { from: 3, toWhere: 4, colours: ["BLUE", "DARK_GREEN"] }, spans: [{ colours: "BLUE" }] },
  [{ ratio: 1, span: null, spans: [] }, null], { ratio: 1, span: { colours: [] }, spans: [] },
];

const LITERALS = [
  "null", "0", "-1", "2147483648", "1.5", "1e3", "1.0", "true", '"a"', '"""a"""', '"1"', "RED", "PINK", '"RED"', "SMALL", "[]", "[null]", "[1]", "[1, null]",
  "[[1] null [2]]", "[[1]]", "1", "[RED]", '["a"]', "{}", "[{}]", "{colours: []}", "{from: 1, colours: RED}", "{from: null, colours: []}",
  "{colours: null}", "{colours: [], other: 1}", "{ratio: 1}", "{ratio: 1, span: {colours: []}, spans: []}", "{ratio: 1, text: null, spans: {colours: []}}",
  "{colours: [], colours: []}", '"\\u0041\\n"', "-2147483648", "12345678901234567890",
];

// juniper's parser accepts only 32-bit integers, also where a Float or an ID is expected.
const isTooLong = (literal) => /^-?\d+$/.test(literal) && Number(literal) !== (Number(literal) | 0);

const fitting = ["Int!", "Int", "Float!", "String!", "Boolean"];

async function judged(schema, request) {
  const document = valid(schema, request);
  if (!document) return { refused: true };
  const { data, errors } = await execute({ schema, document, variableValues: request.variables });
  if (data === undefined) return { refused: true };
  const groups = (errors ?? []).map(({ path }) => [{ path }]);
  return { data: JSON.stringify(data), errors: groups };
}

export async function coercions() {
  const invented = invent(0);
  const schema = schemaOf(invented);
  const requests = [];
  const ask = (query, variables) => requests.push(variables ? { query, variables } : { query });
  for (const field of invented.byName.get("Query").fields) {
    const [{ type, fallback }] = field.args;
    const name = camel(field.name);
    const declared = print(type);
    const call = (value) => `${name}(it: ${value})`;
    const plain = field.name.startsWith("echo");
    ask(`{ ${name} }`);
    ask(`query ($v: ${declared}) { ${call("$v")} }`);
    for (const value of VALUES) {
      if (plain || value === null || typeof value !== "object") ask(`query ($v: ${declared}) { ${call("$v")} }`, { v: value });
    }
    const takesAll = !["Float", "ID"].includes(nameOf(type));
    if (plain) for (const literal of LITERALS) if (takesAll || !isTooLong(literal)) ask(`{ ${call(literal)} }`);
    // a variable of another nullability, absent, null and given, with and without a default
    if (!fitting.includes(declared.replace(/[[\]]/g, "")) && fallback === undefined) continue;
    const bare = declared.replace(/!$/, "");
    const own = { Int: "8", Float: "8.5", String: '"own"', Boolean: "false", ID: '"own"' }[bare];
    for (const head of [bare, `${bare}!`, ...(own ? [`${bare} = ${own}`, `${bare}! = ${own}`, `${bare} = null`] : [])]) {
      for (const variables of [{}, { v: null }, { v: own ? JSON.parse(own) : [] }]) ask(`query ($v: ${head}) { ${call("$v")} }`, variables);
    }
  }
  // variables within lists and input objects
  for (const variables of [{}, { v: null }, { v: 5 }]) {
    ask("query ($v: Int) { echo11(it: [1, $v]) }", variables);
    ask("query ($v: Int) { echo12(it: [1, $v]) }", variables);
    ask("query ($v: Int! = 2) { echo12(it: [1, $v]) }", variables);
    ask("query ($v: Int = 2) { echo12(it: [1, $v]) }", variables);
    ask("query ($v: Int) { echo21(it: {from: $v, colours: []}) }", variables);
    ask("query ($v: Int) { echo21(it: {toWhere: $v, colours: []}) }", variables);
    ask("query ($v: Int = 2) { echo21(it: {from: $v, toWhere: $v, colours: []}) }", variables);
    ask("query ($v: Int) { threeInt(it: $v) echo0(it: $v) }", variables);
    ask("query ($v: String) { threeList(it: [$v]) }", variables);
    ask("query ($v: String!) { threeList(it: [$v]) }", { v: "a" });
  }
  // unknown types and output types; juniper 0.18 panics if they have a default
  for (const type of ["Nope", "Nope!", "[Nope]", "Query", "[Query!]"]) {
    for (const fallback of ["", " = 1", " = null", " = {a: [1]}", " = [RED]"]) ask(`query ($v: ${type}${fallback}) { echo0(it: $v) }`, {});
  }
  const cases = [];
  for (const request of requests) cases.push({ schema: invented.name, request, ...(await judged(schema, request)) });
  return cases;
}

// replaces one part of a value
function disturbed(random, value) {
  if (value === null || typeof value !== "object" || random.chance(30)) return random.pick(VALUES);
  const places = Object.keys(value);
  if (!places.length) return random.pick(VALUES);
  const copy = Array.isArray(value) ? [...value] : { ...value };
  const place = random.pick(places);
  if (!Array.isArray(copy) && random.chance(25)) delete copy[place];
  else copy[place] = disturbed(random, copy[place]);
  return copy;
}

// `count` variables and literals by a seed: valid and nearly valid ones.
export async function offers(seed, count) {
  const invented = invent(0);
  const schema = schemaOf(invented);
  const random = new Random(seed);
  const fields = invented.byName.get("Query").fields.map(({ name, args: [{ type }] }) => ({ name: camel(name), type }));
  const cases = [];
  while (cases.length < count) {
    const { name, type } = random.pick(fields);
    const value = valueOf(random, invented, random.chance(80) ? type : random.pick(fields).type, undefined, camel);
    const request = random.chance(40)
      ? { query: `{ ${name}(it: ${value.text}) }` }
      : { query: `query ($v: ${print(type)}) { ${name}(it: $v) }`, variables: { v: random.chance(40) ? value.json : disturbed(random, value.json) } };
    cases.push({ schema: invented.name, request, ...(await judged(schema, request)) });
  }
  return cases;
}
