// Global ids of npm `graphql-relay`: `ids.mjs FILE` writes a key and its id in each line.
import { writeFileSync } from 'node:fs';
import { toGlobalId } from 'graphql-relay';

const keys = ['', ':', ':a', 'a:b', 'é', '日本', '😀', '\u0000', ' ', 'User:1', '>>>???', 'ÿÿÿ', '"\\', '-_+/='];
for (let length = 0; length < 12; length++) keys.push('x?>~'.repeat(3).slice(0, length), `${10 ** length}`);
const lines = keys.map((key) => JSON.stringify({ key, id: toGlobalId('Memo', key) }));
writeFileSync(process.argv[2], lines.map((line) => `${line}\n`).join(''));
