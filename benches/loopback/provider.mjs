// node-oidc-provider with its memory adapter: one client, one user who is signed in and has
// consented without a page, the endpoints that are measured, access tokens of the resource in the
// format of the first argument.
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
        grant_types: ['authorization_code', 'client_credentials', 'refresh_token'],
        id_token_signed_response_alg: 'EdDSA',
        redirect_uris: ['https://app.example/callback'],
        response_types: ['code'],
        scope: 'openid read:charges',
      },
    ],
    cookies: { keys: ['a key of the bench'] },
    // as ours: a refresh token for each code, rotated at each use, which outlives the session
    expiresWithSession: () => false,
    issueRefreshToken: (ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
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
        useGrantedResource: () => true,
      },
    },
    interactions: { url: (ctx, { uid }) => `/interaction/${uid}` },
    jwks: { keys: [{ ...key, alg: 'EdDSA', use: 'sig', kid: 'bench' }] },
    scopes: ['openid', 'read:charges'],
    ttl: {
      AccessToken: 600,
      ClientCredentials: 600,
      Grant: 3600,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 3600,
    },
  });
  const answer = provider.callback();
  server.on('request', (request, response) =>
    request.url.startsWith('/interaction/') ? signIn(provider, request, response) : answer(request, response),
  );
  console.log(`listening ${port}`);
});

async function signIn(provider, request, response) {
  const accountId = 'ada';
  const grant = new provider.Grant({ accountId, clientId: 'bench' });
  grant.addOIDCScope('openid read:charges');
  grant.addResourceScope(audience, 'read:charges');
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { login: { accountId }, consent });
}
