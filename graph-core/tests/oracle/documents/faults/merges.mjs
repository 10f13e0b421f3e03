// Faults of fields that cannot be merged with a field of the document.

import { getNamedType, isLeafType, isRequiredArgument, Kind } from "graphql";
import { insert, selectionsOf } from "./names.mjs";

const keyOf = ({ alias, name }) => (alias ?? name).value;

// selection of another field under the response key of `node`
function rival(random, node, type) {
  const fields = Object.values(type?.getFields?.() ?? {}).filter((field) => field.name !== node.name.value && isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument));
  return selectionsOf(`${keyOf(node)}: ${fields.length ? random.pick(fields).name : "__typename"}`);
}

const wrap = (random, selections) => {
  if (!random.chance(25)) return selections;
  const [inline] = selectionsOf("... { a }");
  inline.selectionSet.selections = selections;
  return [inline];
};

export const MERGE_FAULTS = {
  conflict: ({ random, sites }) => {
    const { node, parent, list } = random.pick(sites.fields);
    insert(random, list, ...wrap(random, rival(random, node, parent)));
    return true;
  },
  // the same field again, with rivals of some of its selections
  conflictBelow: ({ random, sites }) => {
    const nested = sites.fields.filter(({ node }) => node.selectionSet?.selections.some(({ kind }) => kind === Kind.FIELD));
    if (!nested.length) return false;
    const { node, type, list } = random.pick(nested);
    const children = node.selectionSet.selections.filter(({ kind }) => kind === Kind.FIELD);
    const chosen = random.some(children, random.pick([1, 1, 2]));
    const selections = chosen.flatMap((child) => rival(random, child, type && getNamedType(type)));
    insert(random, list, ...wrap(random, [{ ...structuredClone(node), selectionSet: { kind: Kind.SELECTION_SET, selections } }]));
    return true;
  },
};
