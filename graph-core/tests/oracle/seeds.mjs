// The schemas that are written in Rust: number 0 echoes arguments, the others are random.
export const SEEDS = [0, 1, 2, 3];
// the one that is written without asynchronous fields too
export const TWIN = 1;
