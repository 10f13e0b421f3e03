// Generates the Rust source of a schema with the attributes under test: `{ file name: source }`.

import { camel } from "./types.mjs";

const SCALARS = { Int: "i32", Float: "f64", String: "String", Boolean: "bool", ID: "ID" };

// `twin`: the same types without asynchronous fields.
export function rustOf(schema, { twin = false } = {}) {
  const kind = (name) => schema.byName.get(name)?.kind;
  const rust = (type, { borrowed = false, three = false } = {}) => {
    const bare = { ...type, nullable: false };
    if (type.nullable) return `${three ? "Nullable" : "Option"}<${rust(bare, { borrowed })}>`;
    if (type.list) return `Vec<${rust(type.of, { borrowed })}>`;
    if (type.of === "String" && borrowed) return "&'static str";
    return SCALARS[type.of] ?? (kind(type.of) === "interface" ? `${type.of}Value` : type.of);
  };
  const fallback = ({ type, fallback: value }) => {
    if (value === undefined) return "";
    const text = typeof value === "string" ? `"${value}".to_owned()` : String(value);
    return `#[graphql(default = ${type.nullable ? `Some(${text})` : text})] `;
  };

  const argument = (it) => `${fallback(it)}${it.name}: ${rust(it.type, it)}`;
  const method = (owner, it) => {
    const isAsync = !twin && (it.async || owner.name === "Mutation");
    const answer = rust(it.type, it).replace(new RegExp(`\\b${owner.name}\\b`), "Self");
    const root = owner.name === "Query" || owner.name === "Mutation";
    const given = `&[${it.args.map(({ name }) => `&${name}`).join(", ")}]`;
    const args = [...(root ? [] : ["&self"]), ...(it.echo ? [] : ["context: &Context"]), ...it.args.map(argument)].join(", ");
    const change = owner.name === "Mutation" ? "context.host().change().await;" : "";
    const verb = `${isAsync ? "later" : "now"}${it.fails ? "_or_fail" : ""}`;
    const body = it.echo
      ? `canon(${given})`
      : `${change} context.host().${verb}("${owner.name}.${camel(it.name)}", ${root ? "0" : "self.seed"}, ${given})${isAsync ? ".await" : ""}`;
    const async_ = isAsync || owner.name === "Mutation" ? "async " : "";
    return `${async_}fn ${it.name}(${args}) -> ${it.fails ? `Result<${answer}, GraphError>` : answer} { ${body} }`;
  };

  const record = (it) => {
    const names = it.fields.map((field) => field.name);
    const fields = it.fields.map((field) => `${field.name}: ${rust(field.type, field)},`).join("\n");
    return `#[derive(GraphObject)]\n#[graphql(context = Context)]\npub(crate) struct ${it.name} {\n${fields}\n}\nrecord!(${it.name}: ${names.join(", ")});`;
  };
  const object = (it) => {
    if (it.isRecord) return record(it);
    const root = it.name === "Query" || it.name === "Mutation";
    const implemented = it.interfaces.length ? `impl = [${it.interfaces.map((name) => `${name}Value`).join(", ")}], ` : "";
    const shape = root ? `pub(crate) struct ${it.name};` : `object!(${it.name});`;
    const methods = it.fields.map((field) => method(it, field)).join("\n");
    return `${shape}\n\n#[graph_object(${implemented}context = Context)]\nimpl ${it.name} {\n${methods}\n}`;
  };
  const abstract = {
    interface: (it) => {
      const fields = it.fields.map((field) => `fn ${field.name}(&self${field.args.map((arg) => `, ${argument(arg)}`).join("")}) -> ${rust(field.type, field)};`);
      return `#[graph_interface(for = [${it.members.join(", ")}], context = Context)]\npub(crate) trait ${it.name} {\n${fields.join("\n")}\n}\nmake_abstract!(${it.name}Value: ${it.members.join(", ")});`;
    },
    union: (it) => `#[graph_union(context = Context)]\npub(crate) enum ${it.name} {\n${it.members.map((member) => `${member}(${member}),`).join("\n")}\n}\nmake_abstract!(${it.name}: ${it.members.join(", ")});`,
  };
  const variant = (value) => value.split("_").map((word) => word[0] + word.slice(1).toLowerCase()).join("");
  const inputs = {
    enum: (it) => `#[derive(Clone, Copy, GraphQLEnum${it.derived ? ", GraphEnum" : ""})]\npub(crate) enum ${it.name} {\n${it.values.map((value) => `${variant(value)},`).join("\n")}\n}\nenumeration!(${it.name}: ${it.values.map((value) => `${variant(value)} = "${value}"`).join(", ")});`,
    input: (it) => {
      const fields = it.fields.map((field) => `${fallback(field)}${field.name}: ${rust(field.type, field)},`);
      return `#[derive(Clone, GraphQLInputObject)]\npub(crate) struct ${it.name} {\n${fields.join("\n")}\n}\ncanon_input!(${it.name}: ${it.fields.map(({ name }) => name).join(", ")});`;
    },
  };
  const of = (kinds, write) => schema.definitions.filter((it) => kinds.includes(it.kind)).map((it) => write(it)).join("\n\n");
  const head = (what, uses) => `//! ${what} of \`${schema.name}${twin ? "_twin" : ""}\`, written by \`tests/oracle/run schemas\`.\n\n${uses}\n\n`;
  const mutation = schema.byName.has("Mutation");
  const files = {
    "inputs.rs": head("Inputs", "use juniper::{GraphQLEnum, GraphQLInputObject, Nullable};\n\nuse crate::oracle::prelude::*;") + of(["enum", "input"], (it) => inputs[it.kind](it)),
    "objects.rs": head("The objects", "use super::*;") + of(["object"], object),
    "mod.rs": head("The types", "") + [
      "mod inputs;", "mod objects;", "",
      "pub(crate) use self::inputs::*;", "pub(crate) use self::objects::*;", "use crate::oracle::prelude::*;", "",
      `schema!(${mutation ? "Query, Mutation" : "Query"});`, "",
      of(["interface", "union"], (it) => abstract[it.kind](it)),
    ].join("\n"),
  };
  return files;
}

