// The explorer: GraphiQL with the session of the page, and the size of the operation on screen.
const root = document.getElementById("graphiql");
const { vendor, token, subject } = root.dataset;
const dark = matchMedia("(prefers-color-scheme: dark)");
const links = [...document.querySelectorAll(".pick a")];
const chosen = links.find((link) => link.getAttribute("aria-current"));

globalThis.MonacoEnvironment = {
  getWorker: (_, label) => new Worker(`${vendor}/worker.js`, { type: "module", name: label }),
};
const { GraphiQL, createElement, createRoot, useEffect, useGraphiQL, useGraphiQLActions } = await import(`${vendor}/graphiql.js`);

// Asking the service

const post = (path, accept, body, signal) =>
  fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: accept, "X-CSRF-Token": token },
    body: JSON.stringify(body),
    signal,
  });

/** Result of GraphQL, also for a problem of the service. */
async function resultOf(response) {
  const body = await response.json();
  if ("data" in body || "errors" in body) return body;
  return { errors: [{ message: [body.title, body.detail].filter(Boolean).join(": "), extensions: { status: response.status } }] };
}

/** Results of a subscription, by server-sent events. */
async function* results(body, signal) {
  const response = await post("/console/explorer/operation", "text/event-stream", body, signal);
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return yield await resultOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return yield { errors: [{ message: "The subscription has ended, because the session ended or the service stops. Run it again." }] };
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const lines = text.slice(0, end).split("\n");
      const field = (name) => lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length).trim()).join("\n");
      if (field("event:") === "complete") return;
      if (field("data:")) yield JSON.parse(field("data:"));
    }
  }
}

/** Subscribes; the button that stops the operation closes the connection at once. */
function subscribe(body) {
  const stop = new AbortController();
  const running = (async function* () {
    try {
      yield* results(body, stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
  })();
  const leave = running.return.bind(running);
  running.return = (value) => {
    stop.abort();
    return leave(value);
  };
  return running;
}

function fetcher(body, { documentAST } = {}) {
  const operations = documentAST?.definitions.filter(({ kind }) => kind === "OperationDefinition") ?? [];
  const operation = operations.length > 1 ? operations.find(({ name }) => name?.value === body.operationName) : operations[0];
  if (operation?.operation === "subscription") return subscribe(body);
  return post("/console/explorer/operation", "application/graphql-response+json, application/json", body).then(resultOf);
}

// Showing the size of the operation

const verdict = document.getElementById("verdict");

function showSize(size) {
  for (const meter of document.querySelectorAll("#meters [data-member]")) {
    const { member, limit } = meter.dataset;
    const count = size[member];
    const share = Math.min(100, (100 * (count ?? 0)) / limit);
    meter.classList.toggle("over", count > limit);
    meter.querySelector("strong").textContent = count?.toLocaleString("en") ?? "–";
    const bar = meter.querySelector("rect:last-child");
    bar.setAttribute("width", count ? Math.max(1, share) : 0);
    bar.setAttribute("class", count > limit ? "c-bad" : "c-wait");
  }
  const [error] = "cost" in size ? (size.errors ?? []) : [];
  verdict.textContent = error ? `It would be refused before anything runs. ${error.code}: ${error.message}.` : "";
}

let asking = new AbortController();
async function measure(query, variables, operationName) {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  try {
    const body = { query, operationName, variables: variables.trim() ? JSON.parse(variables) : {} };
    const response = await post("/console/explorer/estimate", "application/json", body, signal);
    const size = response.ok ? await response.json() : {};
    if (!signal.aborted) showSize(size);
  } catch {
    // unfinished variables, or a service that is away: no size is better than an old one
    if (!signal.aborted) showSize({});
  }
}

/** Part of GraphiQL that follows the operation on screen and opens examples. */
function Follow() {
  const tab = useGraphiQL((state) => state.tabs[state.activeTabIndex]);
  const editors = useGraphiQL((state) => state.queryEditor && state.variableEditor ? state : null);
  const theme = useGraphiQL((state) => state.theme);
  const { addTab, setTheme } = useGraphiQLActions();
  const [query, variables, operationName] = [tab?.query ?? "", tab?.variables ?? "", tab?.operationName ?? undefined];
  useEffect(() => {
    const timer = setTimeout(() => measure(query, variables, operationName), 250);
    return () => clearTimeout(timer);
  }, [query, variables, operationName]);
  useEffect(() => {
    if (theme) return undefined;
    // GraphiQL reads the scheme of the system only once
    const again = () => setTheme(null);
    dark.addEventListener("change", again);
    return () => dark.removeEventListener("change", again);
  }, [theme, setTheme]);
  useEffect(() => {
    if (!editors) return undefined;
    const open = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const link = event.currentTarget;
      for (const other of links) other.toggleAttribute("aria-current", false);
      link.setAttribute("aria-current", "true");
      addTab();
      editors.queryEditor.setValue(link.dataset.query);
      editors.variableEditor.setValue(link.dataset.variables);
    };
    for (const link of links) link.addEventListener("click", open);
    return () => links.forEach((link) => link.removeEventListener("click", open));
  }, [editors?.queryEditor, editors?.variableEditor]);
  return null;
}

// The page

/** Part of the browser's storage for this user: another user of the browser has another history. */
function storageOf(user) {
  const prefix = `explorer:${user}:`;
  const own = () => Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  return {
    get length() {
      return own().length;
    },
    getItem: (key) => localStorage.getItem(prefix + key),
    setItem: (key, value) => localStorage.setItem(prefix + key, value),
    removeItem: (key) => localStorage.removeItem(prefix + key),
    clear: () => own().forEach((key) => localStorage.removeItem(key)),
  };
}

const storage = storageOf(subject);
const isFirst = storage.length === 0 || new URLSearchParams(location.search).has("op");
const initial = isFirst ? { initialQuery: chosen.dataset.query, initialVariables: chosen.dataset.variables } : {};
createRoot(root).render(
  createElement(
    GraphiQL,
    { fetcher, storage, defaultQuery: "", isHeadersEditorEnabled: false, showPersistHeadersSettings: false, shouldPersistHeaders: false, ...initial },
    createElement(GraphiQL.Logo, null, createElement("span")),
    createElement(GraphiQL.Footer, null, createElement(Follow)),
  ),
);
