// One worker script for the three kinds of Monaco's workers, so that they share its core. The name
// of the worker chooses the kind.
switch (self.name) {
  case "json":
    await import("monaco-editor/esm/vs/language/json/json.worker.js");
    break;
  case "graphql":
    await import("monaco-graphql/esm/graphql.worker.js");
    break;
  default:
    await import("monaco-editor/esm/vs/editor/editor.worker.js");
}
