// Composes subscriptions with any number of root fields, fragments and conditions.

import { getNamedType, isCompositeType, isRequiredArgument } from "graphql";
import { literalOf } from "../literals.mjs";

export function composeSubscription(random, schema) {
  const root = schema.getSubscriptionType();
  const directives = () => (random.chance(22) ? random.pick([" @skip(if: true)", " @skip(if: false)", " @include(if: false)", " @include(if: true)", " @everywhere", " @include(if: $on)", " @include(if: $on)", " @skip(if: $on)", " @skip", " @include", " @skip(if: 1)", " @include(if: \"a\")", " @skip(if: null)", " @include(if: null)"]) : "");
  const field = () => {
    if (random.chance(26)) return `${random.pick(["", "", "a: "])}${random.pick(["__typename", "__typename", "__schema { description }", "__nope"])}${directives()}`;
    const chosen = random.pick(Object.values(root.getFields()));
    const args = chosen.args.filter(isRequiredArgument).map((arg) => `${arg.name}: ${literalOf(random, arg.type, { depth: 1 })}`);
    const body = isCompositeType(getNamedType(chosen.type)) ? " { __typename }" : "";
    return `${random.pick(["", "", "a: ", "b: "])}${chosen.name}${args.length ? `(${args.join(", ")})` : ""}${directives()}${body}`;
  };
  const fragments = [];
  const selection = (depth) => {
    const choice = random.below(100);
    if (depth > 0 && choice < 15) return `...${random.pick(["", ` on ${root.name}`, " on Human", " on Node"])}${directives()} ${selections(depth - 1)}`;
    if (depth > 0 && choice < 30) {
      const name = `F${fragments.length}`;
      fragments.push(`fragment ${name} on ${random.chance(85) ? root.name : random.pick(["Human", "Node", "Nothing"])} ${selections(depth - 1)}`);
      return `...${random.chance(90) ? name : "Nope"}${directives()}`;
    }
    return field();
  };
  const selections = (depth) => `{ ${Array.from({ length: random.pick([1, 1, 1, 2, 2, 3]) }, () => selection(depth)).join(" ")} }`;
  const body = selections(2);
  const variables = `${body}${fragments}`.includes("$on") ? `($on: Boolean${random.pick(["!", "! = true", " = false"])})` : "";
  const operation = `subscription ${random.pick(["", "", "S", "on"])}${variables} ${body}`;
  const others = random.chance(15) ? [`query Q { __typename }`] : [];
  return [operation, ...fragments, ...others].join("\n");
}
