// Documents with syntax errors: broken tokens at random places, and broken definitions.

import { parse } from "graphql";
import { MESSAGES } from "../messages.mjs";
import { tokensOf } from "../restyle.mjs";

// lexical errors, which are reported wherever the token is
const BROKEN_TOKENS = [
  "'", "'a'", "%", "^", "~", "`", "?", "+", "*", "/", ";", "<", ">", "\\", ".", "..", ". . .", "\u0000", "\u0007", "\u007f", "\u00a0", "\u200b", "\u2028", "é", "日", "😀", "\u{10ffff}", "\uffff", "-", "-a", "--1",
  "00", "01", "-01", "0123", "1.", "1.a", "1.e1", "1e", "1e+", "1E-x", "1.0.0", "1.5e", "0x1F", "1a", "1_000", "0b1", "1.2a", "1e1e", "+1", ".5", "-.5", "1..2", "1é", "0.", "123abc",
  "\"", "\"open", "\"open\n\"", "\"open\r\"", "\"\\\"", "\"\"\"", "\"\"\"open", "\"\"\"open\n\"\"", "\"\"\"open \\\"\"\"", "\"\"\"\"", "\"a\\",
  "\"\\a\"", "\"\\0\"", "\"\\x41\"", "\"\\'\"", "\"\\\n\"", "\"\\ \"", "\"\\U0041\"", "\"\\é\"",
  "\"\\u\"", "\"\\u1\"", "\"\\u123\"", "\"\\uXYZW\"", "\"\\u12 4\"", "\"\\uD800\"", "\"\\uDC00\"", "\"\\uD83D\\u0041\"", "\"\\uD83D\\uD83D\"", "\"\\uD83D\\n\"", "\"\\uDE00\\uD83D\"", "\"\\uD83D\\uDE0\"", "\"\\u004",
  "\"\\u{}\"", "\"\\u{110000}\"", "\"\\u{D800}\"", "\"\\u{DFFF}\"", "\"\\u{FFFFFFFF}\"", "\"\\u{000000041}\"", "\"\\u{41\"", "\"\\u{4G}\"", "\"\\u{ 41}\"", "\"\\u{-1}\"", "\"\\u{D83D}\\u{DE00}\"", "\"\\u{123456789012}\"", "\"\\u{",
];

const DEFINITIONS = [
  "{ }", "query { }", "{", "{ a", "}", "{ a } }", "{ a { }", "{ a { } }", "{ a: }", "{ a:: b }", "{ : b }", "{ ... }", "{ ...on }", "{ ... on { a } }", "{ ... on on }", "{ ...@skip }", "{ .. a }", "{ a b: }", "{ 1 }", "{ \"a\" }", "{ $a }", "{ a! }", "{ a = 1 }", "{ [a] }", "{ a | b }", "{ a & b }",
  "query", "query A", "query A(", "query A()", "query A() { a }", "query ($a) { a }", "query ($a:) { a }", "query ($a: Int", "query ($: Int) { a }", "query (a: Int) { a }", "query ($a: [Int) { a }", "query ($a: []) { a }", "query ($a: Int!!) { a }", "query ($a: !Int) { a }", "query ($a: [Int]]) { a }", "query ($a: Int = ) { a }", "query ($a Int) { a }", "query A B { a }", "query A @ { a }", "query A @a( { a }", "query A @a() { a }", "query @a { a } @b", "query 1 { a }", "query \"a\" { a }", "query on on { a }",
  "query ($a: Int = $b) { a }", "query ($a: [Int] = [1, $b]) { a }", "query ($a: Span = {from: $b}) { a }", "query ($a: Int @tag(name: $b)) { a }", "query ($a: Int = $) { a }", "query ($a: Int = [$]) { a }", "query ($a: Int = $1) { a }", "query ($a: Int = {a: $ }) { a }", "query ($a: Int @tag(name: [$a])) { a }", "query ($a: Int = $\"b\") { a }", "type A { a(b: Int = $c): Int }", "enum A @a(b: $c) { A }", "schema @a(b: {c: $d}) { query: A }", "directive @a(b: Int = $c) on FIELD",
  "{ a() }", "{ a(b) }", "{ a(b:) }", "{ a(b: ) }", "{ a(: 1) }", "{ a(b: 1", "{ a(b: [1) }", "{ a(b: [1}) }", "{ a(b: {c}) }", "{ a(b: {c:}) }", "{ a(b: {c: 1) }", "{ a(b: {: 1}) }", "{ a(b: {1: 1}) }", "{ a(b: {\"c\": 1}) }", "{ a(b: $) }", "{ a(b: $1) }", "{ a(b: @c) }", "{ a(b: !) }", "{ a(b: ...) }", "{ a(b: :) }", "{ a(b: 1 2) }", "{ a(b: 1 = 2) }", "{ a(\"b\": 1) }", "{ a(b = 1) }", "{ a(b: (1)) }", "{ a(b: |) }", "{ a(b: =) }", "{ a(b: &) }", "{ a(b: ]) }", "{ a(b: )",
  "fragment", "fragment A", "fragment A on", "fragment A on B", "fragment A on B { }", "fragment on on B { a }", "fragment on B { a }", "fragment A of B { a }", "fragment A { a }", "fragment A on { a }", "fragment A on 1 { a }", "fragment A($a: Int) on B { a }", "fragment A($a: Int = 1) on B { a(b: $a) }", "fragment A @a on B { a }", "fragment A ON B { a }", "fragment \"A\" on B { a }", "fragment 1 on B { a }",
  "{ ...A($a: 1) }", "{ ...A(a: 1) }", "{ ...A { b } }", "{ ... A on B { b } }", "{ ...on B }", "{ ...on B @a }", "{ ...\"a\" }", "{ ...1 }", "{ ... ... a }", "{ ...A: B }",
  "\"described\" { a }", "\"\"\"described\"\"\" { a }", "\"described\"", "\"described\" extend type A { a: Int }", "\"described\" \"again\" query { a }", "\"described\" nope", "\"\"\"described\"\"\" extend schema @a", "\"described\" on { a }", "\"described\" 1", "\"described\" }", "\"described\" queries { a }", "query \"described\" { a }", "query (\"described\") { a }", "query (\"described\" \"again\" $a: Int) { a }", "query ($a: \"described\" Int) { a }", "{ \"described\" a }", "\"described\" @a",
  "nope", "nope { a }", "on", "Query { a }", "true", "null", "1", "1.5", "\"a\"", "$a", "@a", "...", "...A", "(a: 1)", "[a]", ":", "=", "|", "&", "!", "(", ")", "[", "]", "QUERY { a }", "subscribe { a }",
  "enum A { true }", "enum A { false }", "enum A { null }", "enum A { A null B }", "extend enum A { true }", "enum A { A \"described\" false @a }", "enum A { }", "enum A { 1 }", "enum A { \"A\" }", "enum",
  "type", "type A {", "type A { }", "type A { a }", "type A { a: }", "type A { a(): Int }", "type A { a(b): Int }", "type A { a: Int! ! }", "type A implements { a: Int }", "type A implements & { a: Int }", "type A implements B C { a: Int }", "type A implements B, C & { a: Int }", "type A { a: Int = 1 }", "type A { : Int }", "type \"A\" { a: Int }", "extend type A", "extend interface A", "extend union A", "extend enum A", "extend input A", "extend scalar A", "extend schema", "extend", "extend query { a }", "extend nope A", "extend directive @a on FIELD", "extend \"a\"", "extend 1", "extend fragment A on B { a }", "extend type 1",
  "interface A { a: }", "union A =", "union A = |", "union A = B |", "union A = | B || C", "union A B", "union A = 1", "scalar", "scalar 1", "scalar A {}", "input A { a }", "input A { a: }", "input A { a: Int = }", "input A { a(b: Int): Int }", "input A { }",
  "schema", "schema { }", "schema {", "schema { query }", "schema { query: }", "schema { nope: A }", "schema { query: [A] }", "schema { query: A! }", "schema A { query: A }", "schema @a",
  "directive", "directive a on FIELD", "directive @ on FIELD", "directive @a", "directive @a on", "directive @a on |", "directive @a on NOPE", "directive @a on FIELD |", "directive @a on FIELD | NOPE", "directive @a on field", "directive @a() on FIELD", "directive @a(b) on FIELD", "directive @a repeatable FIELD", "directive @a(b: Int) repeated on FIELD", "directive @a FIELD", "directive @a on FIELD FIELD", "directive @a @b on FIELD", "directive @a on toString", "directive @a on FIELD & QUERY",
];
// beginnings of definitions, to be followed by any token
const BEGINNINGS = [
  "", "{", "{ a", "{ a:", "{ a: b", "{ ...", "{ ... on", "{ ... on A", "{ ...A", "{ a(", "{ a(b", "{ a(b:", "{ a(b: 1", "{ a(b: [", "{ a(b: [1", "{ a(b: {", "{ a(b: {c", "{ a(b: {c:", "{ a(b: $", "{ a @", "{ a @b(", "{ a }", "{ a { b",
  "query", "query A", "query (", "query ($", "query ($a", "query ($a:", "query ($a: [", "query ($a: [Int", "query ($a: Int", "query ($a: Int =", "query ($a: Int = [", "query ($a: Int = {b:", "query ($a: Int = $", "query ($a: Int @", "query @a(b:", "mutation @a", "\"d\" query", "\"d\"",
  "fragment", "fragment A", "fragment A on", "fragment A on B", "fragment A on B @c", "extend", "extend type", "extend type A", "extend schema", "extend schema {", "extend enum A", "extend union A", "extend input A", "extend scalar A", "extend interface A",
  "type", "type A", "type A implements", "type A implements B", "type A implements B &", "type A {", "type A { a", "type A { a(", "type A { a(b", "type A { a(b:", "type A { a:", "type A { a: B", "interface A {", "union A", "union A =", "union A = B |", "enum", "enum A", "enum A {", "enum A { B", "input A {", "input A { a", "input A { a: Int =", "scalar A", "scalar",
  "schema", "schema {", "schema { query", "schema { query:", "schema { query: A", "directive", "directive @", "directive @a", "directive @a(", "directive @a on", "directive @a on FIELD", "directive @a on FIELD |",
];
const FOLLOWERS = ["{", "}", "(", ")", "[", "]", ":", "=", "!", "$", "@", "|", "&", "...", "name", "on", "query", "null", "1", "-1.5e3", "\"text\"", "\"\"", "\"\"\"block\"\"\"", ""];
const EMPTY = ["", " ", "\n", "# only a comment", "\ufeff", ",", "\t,\r\n", "#\n#"];

function messageOf(text) {
  try {
    parse(text);
    return -1;
  } catch ({ message }) {
    return MESSAGES.findIndex(([, pattern]) => pattern.test(message));
  }
}

// broken definitions by message, so that all messages are equally frequent
const BY_MESSAGE = [];
for (const text of [...DEFINITIONS, ...BEGINNINGS.flatMap((beginning) => FOLLOWERS.map((follower) => `${beginning} ${follower}`))]) {
  const at = messageOf(text);
  if (at >= 0) (BY_MESSAGE[at] ??= []).push(text);
}
const GROUPS = BY_MESSAGE.filter(Boolean);

function breakToken(random, valid) {
  const tokens = tokensOf(valid).map(({ text }) => text);
  tokens.splice(random.below(tokens.length + 1), random.chance(40) ? 1 : 0, random.pick(BROKEN_TOKENS));
  return tokens.join(random.pick([" ", " ", "\n", "\r\n", " \r"]));
}

function breakDefinition(random, valid) {
  const broken = random.pick(random.pick(GROUPS));
  const layout = random.below(10);
  if (layout < 4) return broken;
  if (layout < 6) return `${valid}\n${broken}`;
  if (layout < 8) return `${broken}\n${valid}`;
  return `{ a }\r\n${broken} ${random.pick(DEFINITIONS)}`;
}

function cut(random, valid) {
  const tokens = tokensOf(valid).map(({ text }) => text);
  return tokens.slice(0, random.below(tokens.length)).join(" ");
}

// Returns the text of a document that mostly has a syntax error.
export function breakSyntax(random, valid) {
  const choice = random.below(100);
  if (choice < 30) return breakToken(random, valid);
  if (choice < 94) return breakDefinition(random, valid);
  return choice < 99 ? cut(random, valid) : random.pick(EMPTY);
}
