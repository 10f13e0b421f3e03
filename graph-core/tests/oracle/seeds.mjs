// Schemas that exist in Rust: number 0 returns its arguments, the others are random.
export const SEEDS = [0, 1, 2, 3];
// schema that also exists without asynchronous fields
export const TWIN = 1;
