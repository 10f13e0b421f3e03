// All hand-written documents, as `[what it shows, text]`.

export { HAND_SCHEMA } from "./schema.mjs";
export const HAND_DOCUMENTS = [];
