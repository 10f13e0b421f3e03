// Changes one or two tokens of an operation: most results are invalid, some are still valid.

import { Lexer, Source, TokenKind } from "graphql";
import { Random } from "./random.mjs";

function tokensOf(text) {
  const lexer = new Lexer(new Source(text));
  const tokens = [];
  while (lexer.advance().kind !== TokenKind.EOF) tokens.push(lexer.token);
  return tokens.map(({ kind, start, end }) => ({ kind, text: text.slice(start, end) }));
}

const names = (tokens) => [...tokens.keys()].filter((at) => tokens[at].kind === TokenKind.NAME);

const CHANGES = [
  ["drop", (random, tokens) => tokens.splice(random.below(tokens.length), 1)],
  ["double", (random, tokens) => {
    const at = random.below(tokens.length);
    tokens.splice(at, 0, tokens[at]);
  }],
  ["exchange", (random, tokens) => {
    const [one, other] = [random.pick(names(tokens)), random.pick(names(tokens))];
    [tokens[one], tokens[other]] = [tokens[other], tokens[one]];
  }],
  // replaces a name by another name, or a value by another value
  ["replace", (random, tokens) => {
    const at = random.below(tokens.length);
    tokens[at] = random.pick(tokens.filter(({ kind }) => kind === tokens[at].kind));
  }],
  ["rename", (random, tokens) => {
    const at = random.pick(names(tokens));
    tokens[at] = { ...tokens[at], text: random.pick(["total", "name", "x", "Human", "Being", "Int", "v0", "first", "if", "skip", "Part0", "RED", "null"]) };
  }],
  // removes a parenthesized part, or repeats a directive
  ["arguments", (random, tokens) => {
    const open = [...tokens.keys()].filter((at) => tokens[at].kind === TokenKind.PAREN_L);
    if (!open.length) return;
    const from = random.pick(open);
    const to = tokens.findIndex(({ kind }, at) => at > from && kind === TokenKind.PAREN_R);
    tokens.splice(from, to - from + 1);
  }],
  ["directive", (random, tokens) => {
    const at = tokens.findIndex(({ kind }) => kind === TokenKind.AT);
    if (at >= 0) tokens.splice(at, 0, ...tokens.slice(at, at + 6));
  }],
].flatMap(([name, change]) => Array(["drop", "double"].includes(name) ? 1 : 3).fill(change));

// Returns `request` with one or two changes, by a seed.
export function spoil(request, seed) {
  const random = new Random(seed);
  const tokens = tokensOf(request.query);
  for (let left = 1 + random.below(2); left > 0 && tokens.length > 1; left -= 1) {
    random.pick(CHANGES)(random, tokens);
  }
  return { ...request, query: tokens.map(({ text }) => text).join(" ") };
}
