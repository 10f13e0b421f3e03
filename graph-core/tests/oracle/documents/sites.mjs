// Collects the nodes of a document with their types, so that faults can be put there.

import { Kind, TypeInfo, visit, visitWithTypeInfo } from "graphql";

const VALUES = new Set([Kind.INT, Kind.FLOAT, Kind.STRING, Kind.BOOLEAN, Kind.NULL, Kind.ENUM, Kind.LIST, Kind.OBJECT, Kind.VARIABLE]);

// `values` have `{ node, type, holder, key }`, so that `holder[key]` can be replaced
export function sitesOf(schema, document) {
  const info = new TypeInfo(schema);
  const sites = { document, operations: [], fragments: [], variables: [], selectionSets: [], fields: [], inlines: [], spreads: [], args: [], directives: [], values: [], namedTypes: [] };
  const enter = (node, key, parent) => {
    switch (node.kind) {
      case Kind.OPERATION_DEFINITION: sites.operations.push(node); break;
      case Kind.FRAGMENT_DEFINITION: sites.fragments.push(node); break;
      case Kind.VARIABLE_DEFINITION: sites.variables.push(node); break;
      case Kind.SELECTION_SET: sites.selectionSets.push({ node, type: info.getParentType() }); break;
      case Kind.FIELD: sites.fields.push({ node, parent: info.getParentType(), definition: info.getFieldDef(), type: info.getType(), list: parent }); break;
      case Kind.INLINE_FRAGMENT: sites.inlines.push(node); break;
      case Kind.FRAGMENT_SPREAD: sites.spreads.push(node); break;
      case Kind.ARGUMENT: sites.args.push({ node, list: parent, definition: info.getArgument() }); break;
      case Kind.DIRECTIVE: sites.directives.push({ node, list: parent, definition: info.getDirective() }); break;
      case Kind.NAMED_TYPE: sites.namedTypes.push(node); break;
      default:
    }
    // a variable in its own definition is no value
    const isDefinition = node.kind === Kind.VARIABLE && parent?.kind === Kind.VARIABLE_DEFINITION;
    if (VALUES.has(node.kind) && key !== "description" && !isDefinition) sites.values.push({ node, type: info.getInputType(), parentType: info.getParentInputType(), holder: parent, key });
  };
  visit(document, visitWithTypeInfo(info, { enter }));
  return sites;
}
