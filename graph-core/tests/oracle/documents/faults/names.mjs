// Faults of definitions, names, types and fragments.

import { getNamedType, isAbstractType, isCompositeType, isInputType, isLeafType, Kind, parse } from "graphql";

const UNKNOWN = ["Nothing", "nope", "Querys", "string", "__Nothing", "x"];
const DEFINITIONS = [
  "type Extra { a: Int }", "\"described\" type Query { a: Int @deprecated }", "scalar Nothing", "scalar Date @specifiedBy(url: \"x\")", "interface Extra { a(b: Int = 1): Nope }", "union Extra = A | B",
  "enum Extra { A B @deprecated }", "input Extra { a: Int = 1 @onType, b: [Nothing!] }", "directive @extra(a: Int!) repeatable on FIELD | QUERY", "directive @skip on FIELD",
  "schema { query: Query }", "schema @onType { query: Nothing mutation: Query }", "extend schema @onType", "extend schema { subscription: Query }", "extend type Query { a: Int }",
  "extend scalar Json @nope", "extend interface Node @nope", "extend union Hit = Nothing", "extend enum Color { X }", "extend input Span { x: Int }", "extend type Nothing implements Node", "type Empty", "input Nothing @tag",
];

export const definitionsOf = (text) => parse(text, { noLocation: true }).definitions;
export const selectionsOf = (text) => definitionsOf(`{ ${text} }`)[0].selectionSet.selections;
export const directivesOf = (text) => definitionsOf(`query ${text} { a }`)[0].directives;

export function insert(random, list, ...items) {
  list.splice(random.below(list.length + 1), 0, ...items);
}

const named = (value) => ({ kind: Kind.NAME, value });
const typeNamed = (name) => ({ kind: Kind.NAMED_TYPE, name: named(name) });
const add = ({ random, document }, text) => insert(random, document.definitions, ...definitionsOf(text));
const names = (schema, filter) => Object.values(schema.getTypeMap()).filter((type) => filter(type) && !type.name.startsWith("__")).map((type) => type.name);
const notComposite = (schema) => names(schema, (type) => !isCompositeType(type));
const output = (schema) => names(schema, (type) => !isInputType(type));

const possible = (schema, type) => (isAbstractType(type) ? schema.getPossibleTypes(type) : [type]);

// composite types of which no object is of `type`
function impossible(schema, type) {
  const own = possible(schema, type);
  return names(schema, (it) => isCompositeType(it) && !possible(schema, it).some((one) => own.includes(one)));
}

function retarget(context, nodes, name) {
  const { random } = context;
  if (!nodes.length) return false;
  random.pick(nodes).typeCondition = typeNamed(name);
  return true;
}

const composite = (sites) => sites.selectionSets.filter(({ type }) => isCompositeType(type));

export const NAME_FAULTS = {
  definition: (context) => add(context, context.random.pick(DEFINITIONS)),
  definitions: (context) => {
    add(context, context.random.pick(DEFINITIONS));
    add(context, context.random.pick(DEFINITIONS));
  },
  repeatedOperation: (context) => {
    const { random, sites } = context;
    const operation = random.pick(sites.operations);
    operation.name ??= named("Same");
    for (const other of sites.operations) other.name ??= named("Other");
    add(context, `${random.pick(["query", "query", "mutation"])} ${operation.name.value} { __typename }`);
  },
  anonymousOperation: (context) => add(context, context.random.pick(["{ __typename }", "query { __typename }", "mutation { __typename }", "\"described\" query @onQuery { __typename }"])),
  unnamedOperation: ({ random, sites }) => {
    if (sites.operations.length < 2) return false;
    random.pick(sites.operations).name = undefined;
    return true;
  },
  unknownType: ({ random, sites }) => {
    if (!sites.namedTypes.length) return false;
    random.pick(sites.namedTypes).name = named(random.pick(UNKNOWN));
    return true;
  },
  unknownTypeOfVariable: ({ random, sites }) => {
    const operation = random.pick(sites.operations);
    const [made] = definitionsOf(`query ($unknown: ${random.pick(["Nothing", "[Nothing!]", "Sting!", "[[nope]]"])}) { a }`);
    operation.variableDefinitions = [...(operation.variableDefinitions ?? []), ...made.variableDefinitions];
    return true;
  },
  inlineOnLeaf: ({ random, schema, sites }) => {
    insert(random, random.pick(sites.selectionSets).node.selections, ...selectionsOf(`... on ${random.pick(notComposite(schema))} { ${random.pick(["__typename", "a"])} }`));
    return true;
  },
  fragmentOnLeaf: (context) => retarget(context, context.sites.fragments, context.random.pick(notComposite(context.schema))),
  outputVariable: ({ random, schema, sites }) => {
    const operation = random.pick(sites.operations);
    const type = random.pick(["T", "T!", "[T]", "[T!]!"]).replace("T", random.pick(output(schema)));
    const [made] = definitionsOf(`query ($out: ${type}${random.pick(["", "", " = null", " = {a: 1}", " = 1"])}) { a }`);
    operation.variableDefinitions = [...(operation.variableDefinitions ?? []), ...made.variableDefinitions];
    if (random.chance(50)) insert(random, operation.selectionSet.selections, ...selectionsOf("__typename @tag(name: $out)"));
    return true;
  },
  selectionOfLeaf: ({ random, sites }) => {
    const leaves = sites.fields.filter(({ type }) => type && isLeafType(getNamedType(type)));
    if (!leaves.length) return false;
    random.pick(leaves).node.selectionSet = definitionsOf(random.pick(["{ a }", "{ __typename }", "{ ...F0 }", "{ a { b } }"]))[0].selectionSet;
    return true;
  },
  missingSelection: ({ random, sites }) => {
    const nested = sites.fields.filter(({ node }) => node.selectionSet);
    if (!nested.length) return false;
    random.pick(nested).node.selectionSet = undefined;
    return true;
  },
  unknownField: ({ random, sites }) => {
    random.pick(sites.fields).node.name = named(random.pick([...UNKNOWN, "__schema", "__type", "__typename2", "id"]));
    return true;
  },
  foreignField: ({ random, sites }) => {
    const { node } = random.pick(sites.fields);
    // a copy: the place may be within the field
    insert(random, random.pick(sites.selectionSets).node.selections, structuredClone(node));
    return true;
  },
  fieldOfUnion: ({ random, schema, sites }) => {
    const union = names(schema, (type) => "getTypes" in type);
    insert(random, random.pick(composite(sites)).node.selections, ...selectionsOf(`... on ${random.pick(union)} { ${random.pick(["id", "a: id", "nope { a }"])} }`));
    return true;
  },
  repeatedFragment: (context) => {
    const { random, sites } = context;
    if (!sites.fragments.length) return false;
    const fragment = random.pick(sites.fragments);
    insert(random, context.document.definitions, random.chance(50) ? { ...fragment } : { ...fragment, selectionSet: definitionsOf("{ __typename }")[0].selectionSet });
    return true;
  },
  unknownFragment: ({ random, sites }) => {
    const spread = selectionsOf(`...${random.pick(["Nope", "F9", "Query", "f0"])} @skip(if: false)`);
    if (random.chance(50) && sites.spreads.length) random.pick(sites.spreads).name = spread[0].name;
    else insert(random, random.pick(sites.selectionSets).node.selections, ...spread);
    return true;
  },
  deletedFragment: ({ random, document, sites }) => {
    if (!sites.fragments.length) return false;
    document.definitions.splice(document.definitions.indexOf(random.pick(sites.fragments)), 1);
    return true;
  },
  unusedFragment: (context) => add(context, `fragment ${context.random.pick(["Unused", "Another", "unused"])} on ${context.random.pick(names(context.schema, isCompositeType))} { __typename }`),
  impossibleInline: ({ random, schema, sites }) => {
    const { node, type } = random.pick(composite(sites));
    const types = impossible(schema, type);
    if (!types.length) return false;
    insert(random, node.selections, ...selectionsOf(`... on ${random.pick(types)} { __typename }`));
    return true;
  },
  impossibleSpread: (context) => {
    const { random, schema, sites } = context;
    const { node, type } = random.pick(composite(sites));
    const types = impossible(schema, type);
    if (!types.length) return false;
    add(context, `fragment Impossible on ${random.pick(types)} { __typename }`);
    insert(random, node.selections, ...selectionsOf("...Impossible"));
    return true;
  },
  fragmentCycle: (context) => {
    const { random, sites } = context;
    const { node, type } = random.pick(composite(sites));
    const length = 1 + random.below(4);
    const spread = (at) => random.pick(["...CycleN", "... { ...CycleN }", "__typename ...CycleN", "...CycleN @include(if: true) ...CycleN"]).replaceAll("N", at % length);
    for (let at = 0; at < length; at += 1) add(context, `fragment Cycle${at} on ${type.name} { ${spread(at + 1)}${random.chance(20) ? ` ${spread(at + random.below(4))}` : ""} }`);
    if (random.chance(75)) insert(random, node.selections, ...selectionsOf(`...Cycle${random.below(length)}`));
    return true;
  },
  spreadOfSelf: ({ random, sites }) => {
    if (!sites.fragments.length) return false;
    const [one, other] = [random.pick(sites.fragments), random.pick(sites.fragments)];
    insert(random, one.selectionSet.selections, ...selectionsOf(`...${other.name.value}`));
    return true;
  },
};
