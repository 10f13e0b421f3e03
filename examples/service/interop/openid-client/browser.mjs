// A browser without a screen: cookies, redirects and the forms of the service's pages.

const MAX_STEPS = 12;
const YES = /\b(allow|accept|agree|approve|authori[sz]e|yes)\b/i;
const NO = /\b(deny|decline|refuse|cancel|no)\b/i;

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text) {
  return text.replace(/&(#x[0-9a-f]+|#\d+|[a-z]+);/gi, (whole, name) => {
    if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? whole;
    const hex = name[1].toLowerCase() === "x";
    return String.fromCodePoint(Number.parseInt(name.slice(hex ? 2 : 1), hex ? 16 : 10));
  });
}

function attributes(tag) {
  const found = {};
  const inside = tag.replace(/^<\w+/, "").replace(/\/?>$/, "");
  for (const [, name, double, single, bare] of inside.matchAll(
    /([^\s"'=<>/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g,
  )) {
    found[name.toLowerCase()] = unescaped(double ?? single ?? bare ?? "");
  }
  return found;
}

// POST forms of a page, with their fields and buttons.
function forms(html) {
  const page = html.replace(/<!--[\s\S]*?-->/g, "");
  return [...page.matchAll(/(<form\b[^>]*>)([\s\S]*?)<\/form>/gi)]
    .map(([, tag, inside]) => {
      const inputs = [...inside.matchAll(/<input\b[^>]*>/gi)].map(([input]) => attributes(input));
      const isButton = ({ type }) => type === "submit";
      const buttons = [...inside.matchAll(/(<button\b[^>]*>)([\s\S]*?)<\/button>/gi)]
        .map(([, button, label]) => ({ ...attributes(button), label: unescaped(label.replace(/<[^>]*>/g, " ")) }))
        .filter(({ type }) => type === undefined || type === "submit")
        .concat(inputs.filter(isButton).map((input) => ({ ...input, label: input.value ?? "" })));
      const { method = "get", action = "" } = attributes(tag);
      return { method: method.toLowerCase(), action, buttons, fields: inputs.filter((input) => !isButton(input)) };
    })
    .filter(({ method }) => method === "post");
}

function says(button, answer) {
  return answer.test(button.label) || answer.test(button.value ?? "");
}

// The form to submit and its button: a password form, else the form whose button has the answer.
function choice(page, answer) {
  const login = page.find(({ fields }) => fields.some(({ type }) => type === "password"));
  if (login) return { form: login, button: login.buttons[0] };
  for (const form of page) {
    const button = form.buttons.find((button) => says(button, answer));
    if (button) return { form, button };
  }
  return undefined;
}

function filled({ fields }, button, { email, password }) {
  const pairs = new URLSearchParams();
  for (const { name, type = "text", value = "", checked, autocomplete } of fields) {
    if (!name || (["checkbox", "radio"].includes(type) && checked === undefined)) continue;
    if (type === "password") pairs.append(name, password);
    else if (type === "email" || autocomplete?.includes("username")) pairs.append(name, email);
    else pairs.append(name, ["checkbox", "radio"].includes(type) ? value || "on" : value);
  }
  if (button?.name) pairs.append(button.name, button.value ?? "");
  return pairs;
}

// A browser without cookies, so that sign-ins are independent.
export class Browser {
  #cookies = new Map();

  async #exchange(url, body) {
    const headers = { accept: "text/html", cookie: [...this.#cookies].map((pair) => pair.join("=")).join("; ") };
    if (body) Object.assign(headers, { origin: url.origin, "sec-fetch-site": "same-origin" });
    const method = body ? "POST" : "GET";
    const response = await fetch(url, { method, body, headers, redirect: "manual", signal: AbortSignal.timeout(20_000) });
    for (const line of response.headers.getSetCookie()) {
      const [pair, ...rest] = line.split(";").map((part) => part.trim());
      const [name, value] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
      if (rest.some((part) => /^max-age=(0|-\d+)$/i.test(part))) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return response;
  }

  // One request, without following redirects; with a body, a same-origin form.
  open(url, body) {
    return this.#exchange(url, body);
  }

  // Opens `url` and submits each page's form until a redirect to `callback`; returns its URL.
  async signIn(url, callback, { person, allow = true }) {
    const back = (at) => at.origin + at.pathname === callback.origin + callback.pathname;
    const pages = [];
    let [at, body] = [url, undefined];
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const response = await this.#exchange(at, body);
      pages.push(`${body ? "POST" : "GET"} ${at.pathname} ${response.status}`);
      const location = response.headers.get("location");
      if (location) {
        [at, body] = [new URL(location, at), undefined];
        if (back(at)) return at;
        continue;
      }
      const html = await response.text();
      const chosen = response.ok ? choice(forms(html), allow ? YES : NO) : undefined;
      if (!chosen) throw new Error(`no form to submit on these pages: ${pages.join(", ")}`);
      body = filled(chosen.form, chosen.button, person);
      at = new URL(chosen.form.action, at);
    }
    throw new Error(`too many pages without a redirect to the client: ${pages.join(", ")}`);
  }
}
