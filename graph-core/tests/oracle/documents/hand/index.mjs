// All hand-written documents, as `[content, text]`.

import { DEFINITIONS } from "./definitions.mjs";
import { LEXING } from "./lexing.mjs";
import { OVERLAPS } from "./overlaps.mjs";
import { PARSING } from "./parsing.mjs";
import { VALUES } from "./values.mjs";
import { VARIABLES } from "./variables.mjs";

export { HAND_SCHEMA } from "./schema.mjs";
export const HAND_DOCUMENTS = [...LEXING, ...PARSING, ...DEFINITIONS, ...VALUES, ...VARIABLES, ...OVERLAPS];
