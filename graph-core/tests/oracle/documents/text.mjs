// Spellings of string and number literals.

// values of strings that a scanner can get wrong
export const STRINGS = [
  "", " ", "a", "two words", "quote \" in it", "\"", "\\", "C:\\dir\\", "line one\nline two", "\n", "\r\n", "tab\there", "é", "日本語", "😀", "e\u0301",
  "\u0000", "\u001f", "\u007f", "\ufeff", "\u2028", "\uffff", "# no comment", "{ no: selection }", "$no", "/", "\b\f", "  indented", "trailing  ", "\"\"\"", "\\u0041",
  "\u{10ffff}", "\ud7ff", "\ue000", "null", "RED", "1",
];

const hex = (random, code, width) => {
  const digits = code.toString(16).padStart(width, "0");
  return random.chance(50) ? digits.toUpperCase() : digits;
};

const SIMPLE = { "\"": "\\\"", "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escape(random, character) {
  const code = character.codePointAt(0);
  const forms = [`\\u{${hex(random, code, 1 + random.below(code > 0xffff ? 8 : 6))}}`];
  if (code <= 0xffff) forms.push(`\\u${hex(random, code, 4)}`);
  else forms.push(`\\u${hex(random, character.charCodeAt(0), 4)}\\u${hex(random, character.charCodeAt(1), 4)}`);
  if (SIMPLE[character]) forms.push(SIMPLE[character]);
  return random.pick(forms);
}

// quoted string of `value`; `share` percent of the characters are escaped without need
export function quote(random, value, share = 15) {
  const parts = [...value].map((character) => {
    const needed = character === "\"" || character === "\\" || character === "\n" || character === "\r";
    return needed || random.chance(share) ? escape(random, character) : character;
  });
  return `"${parts.join("")}"`;
}

// block string with some value; `value` is not always preserved
export function block(random, value) {
  const ends = random.pick(["\n", "\n", "\r\n", "\r"]);
  const indent = random.pick(["", "  ", "\t", "      "]);
  const lines = value.replaceAll("\"\"\"", "\\\"\"\"").split(/\r\n|[\n\r]/);
  const body = random.chance(40) ? lines.join(ends) : [random.pick(["", " "]), ...lines.map((line) => indent + line), random.pick(["", "  "])].join(ends);
  const closed = /["\\]$/.test(body) ? `${body}${ends}` : body;
  // a quote at the start would lengthen the opening delimiter
  return `"""${closed.startsWith("\"") ? " " : ""}${closed}"""`;
}

export const INTEGERS = ["0", "-0", "1", "-1", "7", "42", "2147483647", "-2147483648", "1000000000"];
export const FLOATS = [
  "0.0", "-0.0", "1.5", "-2.25", "1e3", "1E3", "1e+3", "1e-3", "0e0", "1.0e10", "6.02214076E+23", "0.1234567890123456", "0.30000000000000004", "123456789.12345679",
  "1.7976931348623157e308", "5e-324", "2.2250738585072014e-308", "0.000001", "100000000000000000000.0", "1e21",
];
// valid for Float, too large for Int
export const LARGE_INTEGERS = ["2147483648", "-2147483649", "9007199254740993", "12345678901234567890", "-99999999999999999999999999"];
