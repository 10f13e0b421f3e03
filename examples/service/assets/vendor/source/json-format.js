// Formats JSON with comments in place of prettier, whose parser of JavaScript has half a megabyte.
import { applyEdits, format as edits } from "jsonc-parser";

export const format = async (text) => applyEdits(text, edits(text, undefined, { tabSize: 2, insertSpaces: true }));
export const parsers = {};
export const printers = {};
