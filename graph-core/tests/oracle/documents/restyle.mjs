// Writes the tokens of a document again with random ignored tokens and random spellings of strings.

import { Lexer, parse, print, Source, TokenKind } from "graphql";
import { block, quote } from "./text.mjs";

const COMMENTS = ["#\n", "# a comment\n", "# \"quote\" { ( \\ é 日本 😀\r\n", "# ends with CR\r", "#,\ufeff\n", "# \"\"\"\n", "#\u0000\u0007\n"];
const GAPS = {
  spaced: [" "],
  lines: ["\n", "\n  ", " ", " "],
  windows: ["\r\n", "\r\n\t", " "],
  old: ["\r", "\r  ", " "],
  wild: [" ", ",", "\n", "\r", "\r\n", "\t", "\ufeff", ", ", "\n\n", "  ", "\r\r\n", "\n\r", ",,", ...COMMENTS],
};
const STYLES = ["spaced", "lines", "windows", "old", "wild", "wild", "compact", "compact", "pretty", "pretty"];
const isWord = ({ kind }) => [TokenKind.NAME, TokenKind.INT, TokenKind.FLOAT].includes(kind);
const isString = ({ kind }) => kind === TokenKind.STRING || kind === TokenKind.BLOCK_STRING;

export function tokensOf(text) {
  const lexer = new Lexer(new Source(text));
  const tokens = [];
  while (lexer.advance().kind !== TokenKind.EOF) {
    const { kind, start, end, value } = lexer.token;
    tokens.push({ kind, text: text.slice(start, end), value });
  }
  return tokens;
}

// true if both tokens would be read as another token without a gap
function needsGap(token, next) {
  if (isWord(token) && (isWord(next) || next.kind === TokenKind.SPREAD)) return true;
  return isString(token) && isString(next);
}

function spell(random, token, style) {
  if (token.kind === TokenKind.STRING && style !== "pretty" && random.chance(30)) return quote(random, token.value, random.pick([0, 20, 100]));
  // the value must be free of characters that a block string cannot have
  if (token.kind === TokenKind.STRING && random.chance(10) && !/[\r\n"\\]|^\s|\s$/.test(token.value)) return block(random, token.value);
  return token.text;
}

export function restyle(random, text) {
  const style = random.pick(STYLES);
  if (style === "pretty" && random.chance(60)) return print(parse(text, { noLocation: true }));
  const tokens = tokensOf(text);
  const gaps = GAPS[style] ?? [" "];
  const parts = style === "wild" && random.chance(20) ? ["\ufeff"] : [];
  tokens.forEach((token, at) => {
    parts.push(spell(random, token, style));
    const next = tokens[at + 1];
    if (!next) return;
    if (style === "compact" ? needsGap(token, next) : needsGap(token, next) || random.chance(60)) parts.push(random.pick(gaps));
  });
  if (random.chance(30)) parts.push(random.pick(GAPS.wild), random.chance(20) ? "# no line terminator" : "");
  return parts.join("");
}
