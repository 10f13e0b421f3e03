// Faults of values, arguments, directives and variables.

import { getNamedType, getNullableType, isEnumType, isInputObjectType, isListType, isNonNullType, isScalarType, Kind, parseValue } from "graphql";
import { literalOf } from "../literals.mjs";
import { quote, STRINGS } from "../text.mjs";
import { directivesOf, insert, selectionsOf } from "./names.mjs";

const WRONG = {
  Int: ["1.5", "1.0", "1e3", "\"1\"", "true", "RED", "[[1]]", "{a: 1}", "2147483648", "-2147483649", "99999999999999999999", "$nope"],
  Float: ["\"1.5\"", "true", "RED", "{a: 1}", "\"\"", "\"\"\"1\"\"\"", "NaN"],
  String: ["1", "1.5", "true", "RED", "{a: \"x\"}", "-0"],
  Boolean: ["1", "\"true\"", "0", "TRUE", "RED", "{if: true}", "1.0"],
  ID: ["1.5", "true", "RED", "{id: 1}", "1e2"],
  enum: ["\"RED\"", "1", "true", "NOPE", "Red", "{a: RED}", "\"\"", "1.5", "\"\"\"RED\"\"\"", "small"],
  input: ["1", "\"{}\"", "true", "RED", "1.5", "\"\"\"\n  block\n\"\"\"", "[[{}]]", "[1, 2]"],
};

const literal = (text) => parseValue(text, { noLocation: true });

function wrongFor(random, type) {
  if (!type) return "1";
  const inner = getNamedType(type);
  if (isEnumType(inner)) return random.pick(WRONG.enum);
  if (isInputObjectType(inner)) return random.pick(WRONG.input);
  // every literal is valid for a custom scalar, unless it is non-null
  return random.pick(WRONG[inner.name] ?? ["null"]);
}

// replaces a value whose type fits `filter` by the text that `write` returns
function replace({ random, sites }, filter, write) {
  const fitting = sites.values.filter(({ type, node }) => type && filter(type, node));
  if (!fitting.length) return false;
  const { node, type, holder, key } = random.pick(fitting);
  const text = write(type, node);
  if (text === undefined) return false;
  holder[key] = literal(text);
  return true;
}

// changes the object literal of an input object; adds one if there is none
function changeObject(context, filter, change) {
  const { random, schema, sites } = context;
  let objects = sites.values.filter(({ type, node }) => node.kind === Kind.OBJECT && isInputObjectType(getNamedType(type)) && filter(getNamedType(type)));
  if (!objects.length) {
    const places = sites.values.filter(({ type }) => isInputObjectType(type && getNamedType(type)) && filter(getNamedType(type)));
    if (!places.length) return false;
    const { type, holder, key } = random.pick(places);
    holder[key] = literal(literalOf(random, getNamedType(type)));
    if (holder[key].kind !== Kind.OBJECT) return false;
    objects = [{ node: holder[key], type }];
  }
  const { node, type } = random.pick(objects);
  return change(node, getNamedType(type), schema) ?? true;
}

const objectFields = (text) => literal(text).fields;
const scalar = (name) => (type) => getNamedType(type).name === name;
const BUILT_IN = ["Int", "Float", "String", "Boolean", "ID"];

const wrongScalars = Object.fromEntries(BUILT_IN.map((name) => [`wrong${name}`, (context) => replace(context, scalar(name), (type) => wrongFor(context.random, type))]));

export const VALUE_FAULTS = {
  ...wrongScalars,
  wrongEnum: (context) => replace(context, (type) => isEnumType(getNamedType(type)), (type) => wrongFor(context.random, type)),
  wrongInput: (context) => replace(context, (type) => isInputObjectType(getNamedType(type)), (type) => wrongFor(context.random, type)),
  largeInt: (context) => replace(context, scalar("Int"), () => context.random.pick(["2147483648", "-2147483649", "99999999999999999999", "2147483650"])),
  unknownEnumValue: (context) => replace(context, (type) => isEnumType(getNamedType(type)), () => context.random.pick(["NOPE", "Red", "RED_", "nul"])),
  nullValue: (context) => replace(context, isNonNullType, () => "null"),
  nullInList: (context) => replace(context, (type) => isListType(getNullableType(type)), (type) => `[${literalOf(context.random, getNamedType(type), { depth: 1 })}, null]`),
  wrongList: (context) => replace(context, (type) => !isListType(getNullableType(type)) && !isScalarType(getNamedType(type)), (type) => `[${literalOf(context.random, getNamedType(type), { depth: 1 })}]`),
  deepList: (context) => replace(context, (type) => isListType(getNullableType(type)), (type) => `[[[${wrongFor(context.random, type).replace("$nope", "1")}]]]`),
  wrongBlockString: (context) => replace(context, (type) => !scalar("String")(type), () => quote(context.random, context.random.pick(STRINGS))),
  missingInputField: (context) => changeObject(context, () => true, (node) => { node.fields = node.fields.filter(({ name }) => !["from", "ratio", "spans", "to", "colors"].includes(name.value)); }),
  unknownInputField: (context) => changeObject(context, () => true, (node) => { node.fields = [...node.fields]; insert(context.random, node.fields, ...objectFields(context.random.pick(["{nope: 1}", "{From: 1}", "{a: {b: 1}}", "{name2: [1]}"]))); }),
  repeatedInputField: (context) => changeObject(context, () => true, (node) => {
    if (!node.fields.length) return false;
    node.fields = [...node.fields];
    insert(context.random, node.fields, context.random.pick(node.fields));
    return true;
  }),
  oneOfCount: (context) => changeObject(context, (type) => type.isOneOf, (node) => { node.fields = [...objectFields(context.random.pick(["{}", "{id: 1, name: \"a\"}", "{id: null, name: null}", "{id: $x, colors: []}", "{id: 1, nope: 2}"]))]; }),
  oneOfNull: (context) => changeObject(context, (type) => type.isOneOf, (node) => { node.fields = [...objectFields(context.random.pick(["{id: null}", "{name: null}", "{choice: null}", "{choice: {id: null}}"]))]; }),
  unknownArgument: ({ random, sites }) => {
    const { node } = random.pick(sites.fields);
    node.arguments = [...(node.arguments ?? [])];
    insert(random, node.arguments, ...selectionsOf(random.pick(["a(nope: 1)", "a(First: \"x\")", "a(it2: [$x])", "a(nope: {a: 1}, nope2: null)"]))[0].arguments);
    return true;
  },
  repeatedArgument: ({ random, sites }) => {
    if (!sites.args.length) return false;
    const { node, list } = random.pick(sites.args);
    insert(random, list, random.chance(50) ? node : { ...node, value: literal(random.pick(["1", "null", "\"a\"", "[]"])) });
    return true;
  },
  missingArgument: ({ random, sites }) => {
    const needed = sites.args.filter(({ definition }) => isNonNullType(definition?.type));
    if (!needed.length) return false;
    const { node, list } = random.pick(needed);
    list.splice(list.indexOf(node), 1);
    return true;
  },
  missingDirectiveArgument: ({ random, sites }) => {
    const { node } = random.pick([...sites.fields, ...sites.spreads.map((it) => ({ node: it })), ...sites.inlines.map((it) => ({ node: it }))]);
    node.directives = [...(node.directives ?? []), ...directivesOf(random.pick(["@skip", "@include", "@tag", "@skip(unless: true)", "@limit", "@include @skip"]))];
    return true;
  },
  unknownDirectiveArgument: ({ random, sites }) => {
    const { node } = random.pick(sites.fields);
    node.directives = [...(node.directives ?? []), ...directivesOf(random.pick(["@skip(if: true, nope: 1)", "@everywhere(nope: 1)", "@include(iff: true if: true)", "@tag(name: \"a\", name2: $x)"]))];
    return true;
  },
};
