// Changes tokens or characters of a document, which may be invalid already.

const TOKEN = /"""(?:\\"""|[^])*?"""|"(?:\\.|[^"\\\n\r])*"|#[^\n\r]*|\.\.\.|[_A-Za-z][_0-9A-Za-z]*|-?\d[\d.eE+-]*|[\s,\ufeff]+|[^]/gu;
const PUNCTUATORS = ["{", "}", "(", ")", "[", "]", ":", "=", "!", "$", "@", "|", "&", "..."];
const WORDS = ["query", "mutation", "subscription", "fragment", "on", "true", "false", "null", "skip", "include", "if", "type", "extend", "__typename", "__schema", "__type", "repeatable", "implements", "schema", "enum", "directive"];
const LITERALS = ["0", "1", "-1", "1.5", "\"\"", "\"a\"", "\"\"\"a\"\"\"", "[]", "{}", "null", "2147483648", "RED"];
const CHARACTERS = [...PUNCTUATORS, "\"", "\"\"\"", "\\", "'", "#", "\n", "\r", "\r\n", "\t", " ", ",", "\ufeff", "😀", "é", "\u0000", "\u0001", "\u001f", "\u007f", "\u0085", "\u00a0", "\u2028", "0", "1", "-", ".", "e", "u", "{", "_", "a", "/", "+", "%", "\\u{41}", "\\u0041"];

const isGap = (token) => /^[\s,\ufeff#]/u.test(token);
const isName = (token) => /^[_A-Za-z]/.test(token);

function words(schema) {
  const types = Object.values(schema.getTypeMap());
  const fields = types.flatMap((type) => Object.keys(type.getFields?.() ?? {}));
  return [...types.map(({ name }) => name), ...fields, ...schema.getDirectives().map(({ name }) => name)];
}
const wordsBySchema = new WeakMap();

function changeTokens(random, schema, text) {
  const tokens = text.match(TOKEN) ?? [];
  const places = [...tokens.keys()].filter((at) => !isGap(tokens[at]));
  if (!places.length) return text;
  if (!wordsBySchema.has(schema)) wordsBySchema.set(schema, words(schema));
  const at = random.pick(places);
  const names = places.filter((place) => isName(tokens[place]));
  const other = random.pick(places);
  const any = () => random.pick([PUNCTUATORS, WORDS, LITERALS, wordsBySchema.get(schema)].map((list) => random.pick(list)));
  const changes = [
    () => { tokens[at] = ""; },
    () => { tokens[at] = `${tokens[at]} ${tokens[at]}`; },
    () => { [tokens[at], tokens[other]] = [tokens[other], tokens[at]]; },
    () => { tokens[at] = any(); },
    () => { tokens[at] = `${tokens[at]} ${any()} `; },
    // names by names keep the syntax
    ...Array(5).fill(() => { if (names.length) tokens[random.pick(names)] = random.pick(random.chance(50) ? wordsBySchema.get(schema) : names.map((place) => tokens[place])); }),
    ...Array(2).fill(() => {
      if (names.length < 2) return;
      const [one, two] = [random.pick(names), random.pick(names)];
      [tokens[one], tokens[two]] = [tokens[two], tokens[one]];
    }),
    // a part of the document again at another place
    () => { tokens[other] = `${tokens[other]} ${tokens.slice(at, at + 1 + random.below(12)).join("")} `; },
    () => { tokens.splice(at, 1 + random.below(8)); },
  ];
  random.pick(changes)();
  return tokens.join("");
}

function changeCharacters(random, text) {
  const characters = [...text];
  const at = random.below(characters.length + 1);
  if (random.chance(35)) characters.splice(at, random.pick([1, 1, 1, 2, 5]));
  else if (random.chance(15)) characters.splice(at, 1, random.pick(characters));
  else characters.splice(at, random.chance(20) ? 1 : 0, random.pick(CHARACTERS));
  return characters.join("");
}

// Returns `text` with one to three changes.
export function mutate(random, schema, text) {
  let changed = text;
  for (let left = random.pick([1, 1, 1, 2, 3]); left > 0; left -= 1) {
    changed = random.chance(60) ? changeTokens(random, schema, changed) : changeCharacters(random, changed);
  }
  return changed;
}
