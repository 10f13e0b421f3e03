// Faults of directives and variables.

import { getNamedType, getNullableType, isLeafType, isNonNullType, isRequiredArgument, Kind, parseType } from "graphql";
import { literalOf } from "../literals.mjs";
import { definitionsOf, directivesOf, insert, selectionsOf } from "./names.mjs";

const CUSTOM = ["@everywhere", "@tag(name: \"x\")", "@limit(count: 1)", "@onVariable", "@onQuery", "@onMutation", "@onInline", "@onSpread", "@onFragment", "@onType"];
const BUILT_IN = ["@skip(if: true)", "@include(if: false)", "@deprecated", "@deprecated(reason: \"x\")", "@specifiedBy(url: \"x\")", "@oneOf"];

const named = (value) => ({ kind: Kind.NAME, value });

// any node that can have directives
function anyOwner({ random, sites }) {
  const kinds = [sites.operations, sites.variables, sites.fragments, sites.inlines, sites.spreads, sites.fields.map(({ node }) => node)].filter((nodes) => nodes.length);
  return random.pick(random.pick(kinds));
}

function addDirectives(context, text) {
  const owner = anyOwner(context);
  owner.directives = [...(owner.directives ?? [])];
  insert(context.random, owner.directives, ...directivesOf(text));
  return true;
}

const declare = (operation, text) => {
  operation.variableDefinitions = [...(operation.variableDefinitions ?? []), ...definitionsOf(`query (${text}) { a }`)[0].variableDefinitions];
};

function retype(random, type) {
  const text = String(type);
  const nullable = text.replace(/!$/, "");
  return random.pick([nullable, `${nullable}!`, `[${text}]`, `[${text}]!`, nullable.startsWith("[") ? nullable.slice(1, -1) : text, text.replaceAll("!", ""), text.replace(/\w+/, random.pick(["Int", "String", "Float", "ID", "Json", "Color"]))]);
}

export const USE_FAULTS = {
  repeatedVariable: ({ random, sites }) => {
    const declared = sites.operations.filter((operation) => operation.variableDefinitions?.length);
    if (!declared.length) return false;
    const operation = random.pick(declared);
    operation.variableDefinitions = [...operation.variableDefinitions];
    for (let left = 1 + random.below(2); left > 0; left -= 1) insert(random, operation.variableDefinitions, random.pick(operation.variableDefinitions));
    return true;
  },
  undeclaredVariable: ({ random, sites }) => {
    const declared = sites.operations.filter((operation) => operation.variableDefinitions?.length);
    if (!declared.length) return false;
    const operation = random.pick(declared);
    operation.variableDefinitions = [...operation.variableDefinitions];
    operation.variableDefinitions.splice(random.below(operation.variableDefinitions.length), 1);
    return true;
  },
  unknownVariable: ({ random, sites }) => {
    // within a constant this is a syntax error
    if (sites.values.length && random.chance(60)) {
      const { holder, key } = random.pick(sites.values);
      holder[key] = { kind: Kind.VARIABLE, name: named("nope") };
    } else {
      insert(random, random.pick(sites.selectionSets).node.selections, ...selectionsOf("__typename @include(if: $nope)"));
    }
    return true;
  },
  unusedVariable: ({ random, sites }) => {
    declare(random.pick(sites.operations), random.pick(["$unused: Int", "$unused: [Json!]! = 1", "$unused: Span", "$unused: Int, $unused2: String = \"x\""]));
    return true;
  },
  retypedVariable: ({ random, sites }) => {
    if (!sites.variables.length) return false;
    const definition = random.pick(sites.variables);
    const text = (type) => (type.kind === Kind.LIST_TYPE ? `[${text(type.type)}]` : type.kind === Kind.NON_NULL_TYPE ? `${text(type.type)}!` : type.name.value);
    definition.type = parseType(retype(random, text(definition.type)), { noLocation: true });
    return true;
  },
  // another default can allow or forbid a variable at a non-null place
  changedDefault: ({ random, schema, sites }) => {
    if (!sites.variables.length) return false;
    const definition = random.pick(sites.variables);
    const type = definition.type.kind === Kind.NAMED_TYPE && schema.getType(definition.type.name.value);
    const text = random.pick(["null", "1", "RED", "{}", "[]", type ? literalOf(random, type) : "\"x\""]);
    definition.defaultValue = random.chance(40) ? undefined : definitionsOf(`query ($a: Int = ${text}) { a }`)[0].variableDefinitions[0].defaultValue;
    return true;
  },
  nullableInOneOf: ({ random, schema, sites }) => {
    const queries = sites.operations.filter(({ operation }) => operation === "query");
    if (!queries.length) return false;
    const isOneOf = ({ type }) => getNamedType(type).isOneOf;
    const fields = Object.values(schema.getQueryType().getFields()).filter(({ args, type }) => args.some(isOneOf) && isLeafType(getNamedType(type)));
    // graphql-js checks only places whose type is neither a list nor non-null
    const field = random.pick([...fields, ...Array(2).fill(schema.getDirective("limit"))]);
    const chosen = random.pick(field.args.filter(isOneOf));
    const member = random.pick(Object.values(getNamedType(chosen.type).getFields()));
    const args = field.args.filter((arg) => arg !== chosen && isRequiredArgument(arg)).map((arg) => `${arg.name}: ${literalOf(random, arg.type, { depth: 1 })}`);
    const value = random.pick(["{m: $one}", "{m: $one}", "{m: $one, m: $one}", "{m: $one, nope: 1}"]).replaceAll("m:", `${member.name}:`);
    const operation = random.pick(queries);
    insert(random, operation.selectionSet.selections, ...selectionsOf(`one: ${field.locations ? "__typename @" : ""}${field.name}(${[...args, `${chosen.name}: ${value}`].join(", ")})`));
    declare(operation, `$one: ${random.chance(80) ? member.type : retype(random, member.type)}${random.pick(["", "", "!", ` = ${literalOf(random, getNullableType(member.type), { depth: 1 })}`])}`.replace("!!", "!"));
    return true;
  },
  nullableVariable: ({ random, sites }) => {
    const places = sites.values.filter(({ type, holder, node }) => isNonNullType(type) && node.kind !== Kind.VARIABLE && holder?.kind !== Kind.VARIABLE_DEFINITION && !Array.isArray(holder));
    if (!places.length) return false;
    const { type, holder, key } = random.pick(places);
    holder[key] = { kind: Kind.VARIABLE, name: named("maybe") };
    for (const operation of sites.operations) declare(operation, `$maybe: ${retype(random, type)}${random.pick(["", "", " = null", ` = ${literalOf(random, type, { depth: 1 })}`])}`);
    return true;
  },
  unknownDirective: (context) => addDirectives(context, context.random.pick(["@nope", "@nope(a: 1)", "@Skip(if: true)", "@nope @nope"])),
  misplacedDirective: (context) => addDirectives(context, context.random.pick(CUSTOM)),
  misplacedBuiltIn: (context) => addDirectives(context, context.random.pick(BUILT_IN)),
  repeatedDirective: (context) => {
    const text = context.random.pick([...CUSTOM, ...BUILT_IN]);
    return addDirectives(context, `${text} ${context.random.chance(30) ? "@everywhere(note: \"x\") " : ""}${text}`);
  },
};
