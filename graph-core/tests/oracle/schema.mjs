// Generated schema for graphql-js.

import * as graphql from "graphql";
import { resolver } from "./world.mjs";
import { camel } from "./types.mjs";

// `loose`: all fields of objects are nullable, so that no failure hides another. `library`: another
// release of graphql-js; `directives`: those of the schema, if not the default ones.
export function schemaOf(invented, { loose = false, library = graphql, directives } = {}) {
  const { GraphQLEnumType, GraphQLInputObjectType, GraphQLInterfaceType, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLUnionType } = library;
  const types = new Map(library.specifiedScalarTypes.map((it) => [it.name, it]));
  const input = (type) => {
    const inner = type.list ? new GraphQLList(input(type.of)) : types.get(type.of);
    return type.nullable ? inner : new GraphQLNonNull(inner);
  };
  const output = (type) => {
    const inner = type.list ? new GraphQLList(output(type.of)) : types.get(type.of);
    return type.nullable || loose ? inner : new GraphQLNonNull(inner);
  };
  // an absent default must stay absent
  const given = ({ type, fallback }) => ({ type: input(type), ...(fallback === undefined ? {} : { defaultValue: fallback }) });
  const inputs = (fields) => Object.fromEntries(fields.map((it) => [camel(it.name), { ...given(it) }]));
  const fields = (owner) => () => Object.fromEntries(owner.fields.map((it) => [camel(it.name), {
    type: output(it.type),
    args: inputs(it.args),
    ...(owner.kind === "object" ? { resolve: resolver(invented, owner, it) } : {}),
  }]));
  const resolveType = (value) => value.type;
  const build = {
    enum: ({ name, values }) => new GraphQLEnumType({ name, values: Object.fromEntries(values.map((value) => [value, {}])) }),
    input: (it) => new GraphQLInputObjectType({ name: it.name, fields: () => inputs(it.fields) }),
    interface: (it) => new GraphQLInterfaceType({ name: it.name, fields: fields(it), resolveType }),
    union: (it) => new GraphQLUnionType({ name: it.name, types: () => it.members.map((member) => types.get(member)), resolveType }),
    object: (it) => new GraphQLObjectType({ name: it.name, interfaces: () => it.interfaces.map((name) => types.get(name)), fields: fields(it) }),
  };
  for (const definition of invented.definitions) types.set(definition.name, build[definition.kind](definition));
  return new GraphQLSchema({ query: types.get("Query"), mutation: types.get("Mutation"), types: [...types.values()], directives });
}
