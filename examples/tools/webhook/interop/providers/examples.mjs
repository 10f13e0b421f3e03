// Sends requests that the libraries signed to the examples of receivers, and verifies what the example
// of a sender sends: node examples.mjs FOLDER
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

import { accepts, idOf, peers, requestsOf, signed } from './peers.mjs';

const folder = process.argv[2];
const DEADLINE = 10_000;
let checks = 0;

function check(isTrue, what) {
    checks += 1;
    if (!isTrue) throw new Error(what);
}

/** Starts an example; `line` waits for its next line that has a text. */
async function start(example, environment) {
    const child = spawn(`${folder}/${example}`, [], {
        env: { ...process.env, LISTEN: '127.0.0.1:0', ...environment },
        stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const line = async (text) => {
        const late = AbortSignal.timeout(DEADLINE);
        for (;;) {
            const next = await Promise.race([
                lines.next(),
                once(late, 'abort').then(() => ({ value: `no line with ${text}`, done: true })),
            ]);
            if (next.done) throw new Error(`${example}: ${next.value}`);
            if (next.value.includes(text)) return next.value;
        }
    };
    const url = (await line('listening on')).replace('listening on ', '');
    return { child, line, url };
}

/** Sends a forged, a new and a repeated request, and expects one line about the event. */
async function tryOut(example, name, environment) {
    const peer = peers.find(({ provider }) => provider === name);
    const { child, line, url } = await start(example, { ...environment(peer.keys[0]) });
    try {
        const [request] = requestsOf(peer);
        const headers = await signed(peer, request);
        const send = (body) =>
            fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(DEADLINE) });
        const forged = await send(`${request.body} `);
        check(forged.status === 400, `${example}: a forged request got ${forged.status}`);
        for (const what of ['new', 'repeated']) {
            const { status } = await send(request.body);
            check(status === 200, `${example}: a ${what} request got ${status}`);
        }
        const id = idOf(peer, headers, request.body) ?? 'sha256:';
        check((await line(id)).includes(id), `${example} prints the event`);
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        const [code] = await ended;
        check(code === 0, `${example} ended with ${code}`);
        // the repeated event was not handled
        const rest = await line(id).catch(() => null);
        check(rest === null, `${example} handled a duplicate`);
    } finally {
        child.kill('SIGKILL');
    }
}

await tryOut('stripe', 'stripe', (key) => ({ STRIPE_SECRET: key }));
await tryOut('github', 'github', (key) => ({ GITHUB_SECRET: key }));
for (const example of ['axum_receiver', 'actix_receiver']) {
    for (const name of ['shopify', 'razorpay', 'standard-webhooks']) {
        await tryOut(example, name, (key) => ({ PROVIDER: name, SECRET: key }));
    }
}
/** Receives the message of the sender's example, which the library verifies. */
async function receiveFrom(example) {
    const peer = peers.find(({ provider }) => provider === 'standard-webhooks');
    const received = [];
    const server = createServer(async (request, response) => {
        const parts = [];
        for await (const part of request) parts.push(part);
        const body = Buffer.concat(parts).toString();
        const good = await accepts(peer, { headers: request.headers, body });
        const changed = await accepts(peer, { headers: request.headers, body: `${body} ` });
        received.push({ good, changed, type: JSON.parse(body).type });
        response.writeHead(good ? 200 : 400).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const child = spawn(`${folder}/${example}`, [`http://127.0.0.1:${server.address().port}/webhooks`], {
        env: { ...process.env, SECRET: peer.keys[0] },
        stdio: ['ignore', 'ignore', 'inherit'],
        timeout: DEADLINE,
    });
    const [code] = await once(child, 'exit');
    server.close();
    check(code === 0, `${example} ended with ${code}`);
    check(received.length === 1 && received[0].type === 'charge.created', `${example} sends one event`);
    check(received[0].good, `${example}: the library refuses the message`);
    check(!received[0].changed, `${example}: the library accepts a changed message`);
}

await receiveFrom('sender');
console.log(`examples: ${checks} checks`);
process.exit(0);
