// Spoils an operation by a token or two: most of what comes out is to be refused, some is as good as before.

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
  // a name in the place of another name, a value in the place of another value
  ["replace", (random, tokens) => {
    const at = random.below(tokens.length);
    tokens[at] = random.pick(tokens.filter(({ kind }) => kind === tokens[at].kind));
  }],
  ["rename", (random, tokens) => {
    const at = random.pick(names(tokens));
    tokens[at] = { ...tokens[at], text: random.pick(["total", "name", "x", "Human", "Being", "Int", "v0", "first", "if", "skip", "Part0", "RED", "null"]) };
  }],
  // what stands between parentheses, or a directive once more
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

// `request` with one or two changes, by a seed.
export function spoil(request, seed) {
  const random = new Random(seed);
  const tokens = tokensOf(request.query);
  for (let left = 1 + random.below(2); left > 0 && tokens.length > 1; left -= 1) {
    random.pick(CHANGES)(random, tokens);
  }
  return { ...request, query: tokens.map(({ text }) => text).join(" ") };
}
