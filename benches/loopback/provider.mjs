// node-oidc-provider with its memory adapter: one client, the endpoints that are measured, tokens
// in the format of the first argument.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const format = process.argv[2];
const audience = 'https://api.example';
const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });

const server = createServer().listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    clients: [
      {
        client_id: 'bench',
        client_secret: 'the-secret-of-the-bench-and-of-no-one-else',
        grant_types: ['client_credentials'],
        id_token_signed_response_alg: 'EdDSA',
        redirect_uris: [],
        response_types: [],
        scope: 'read:charges',
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      introspection: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        getResourceServerInfo: () => ({
          scope: 'read:charges',
          audience,
          accessTokenFormat: format,
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'EdDSA' } },
        }),
      },
    },
    jwks: { keys: [{ ...key, alg: 'EdDSA', use: 'sig', kid: 'bench' }] },
    scopes: ['read:charges'],
    ttl: { ClientCredentials: 600 },
  });
  server.on('request', provider.callback());
  console.log(`listening ${port}`);
});
