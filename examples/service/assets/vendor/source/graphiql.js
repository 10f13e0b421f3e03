// GraphiQL with what our own script needs of its libraries.
export { GraphiQL } from "graphiql";
export { useGraphiQL, useGraphiQLActions } from "@graphiql/react";
export { createElement, useEffect } from "react";
export { createRoot } from "react-dom/client";
// not `graphiql/style.css`, which has fonts and another copy of Monaco's style
import "@graphiql/react/style.css";
import "@graphiql/plugin-doc-explorer/style.css";
import "@graphiql/plugin-history/style.css";
import "graphiql/graphiql.css";
