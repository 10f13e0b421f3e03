// npm oidc-provider as an issuer for our client: `node provider.mjs KEY APP` writes the private key
// of the client `assertion` to the file KEY and says where it listens. Tokens are kept in memory.
// APP is the URL of the app, to which logout tokens of the client `basic` are sent.
//
// A request with `login_hint=ada` is signed in without a page; any other user is asked for a name
// and a password, and all are accepted.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { calculateJwkThumbprint } from 'jose';
import { Provider } from 'oidc-provider';

const jwk = (key, members) => ({ ...key.export({ format: 'jwk' }), ...members });
const assertion = generateKeyPairSync('ed25519');
// our client names its key by its thumbprint
const kid = await calculateJwkThumbprint(jwk(assertion.publicKey));
writeFileSync(process.argv[2], assertion.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });

// one key for each algorithm, so that `kid` has to be looked at
const keys = [
  jwk(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, { alg: 'RS256', kid: 'rsa', use: 'sig' }),
  jwk(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, { alg: 'ES256', kid: 'ec', use: 'sig' }),
  jwk(generateKeyPairSync('ed25519').privateKey, { alg: 'EdDSA', kid: 'ed', use: 'sig' }),
];

const signsIn = {
  application_type: 'native',
  grant_types: ['authorization_code', 'refresh_token'],
  // any port: RFC 8252
  redirect_uris: ['http://127.0.0.1/callback'],
  response_types: ['code'],
};
const clients = [
  {
    ...signsIn,
    client_id: 'basic',
    client_secret: 'the secret of basic: 50% + more',
    token_endpoint_auth_method: 'client_secret_basic',
    id_token_signed_response_alg: 'RS256',
    backchannel_logout_uri: `${process.argv[3]}/backchannel-logout`,
    backchannel_logout_session_required: true,
  },
  {
    ...signsIn,
    client_id: 'post',
    client_secret: 'the-secret-of-post',
    token_endpoint_auth_method: 'client_secret_post',
    id_token_signed_response_alg: 'EdDSA',
  },
  {
    ...signsIn,
    client_id: 'public',
    token_endpoint_auth_method: 'none',
    id_token_signed_response_alg: 'ES256',
    dpop_bound_access_tokens: true,
  },
  {
    ...signsIn,
    client_id: 'assertion',
    grant_types: [...signsIn.grant_types, 'client_credentials'],
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'EdDSA',
    id_token_signed_response_alg: 'ES256',
    require_pushed_authorization_requests: true,
    dpop_bound_access_tokens: true,
    scope: 'openid email profile read:charges',
    jwks: { keys: [jwk(assertion.publicKey, { alg: 'EdDSA', kid, use: 'sig' })] },
  },
];

const PAGE = `<!doctype html><title>Sign in</title><form method="post">
<input name="name" autocomplete="username"><input name="password" type="password"><button>Sign in</button></form>`;

const server = createServer().listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    cookies: { keys: [randomBytes(16).toString('hex')] },
    // the app is at a loopback address, which the provider's own dispatcher refuses
    fetch: (url, { dispatcher, ...options }) => fetch(url, options),
    features: {
      backchannelLogout: { enabled: true },
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => true },
      introspection: { enabled: true },
      pushedAuthorizationRequests: { enabled: true },
      resourceIndicators: {
        enabled: true,
        // userinfo takes no token that is for another resource
        defaultResource: (ctx) => (ctx.oidc.params?.grant_type === 'client_credentials' ? 'https://api.example' : undefined),
        getResourceServerInfo: () => ({ scope: 'read:charges', audience: 'https://api.example', accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } }),
      },
      revocation: { enabled: true },
    },
    findAccount: (_, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, email: `${accountId}@example.com`, email_verified: true, name: accountId }),
    }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    jwks: { keys },
    rotateRefreshToken: true,
    scopes: ['openid', 'read:charges'],
  });

  const interact = async (request, response) => {
    const { params } = await provider.interactionDetails(request, response);
    let accountId = params.login_hint;
    if (request.method === 'POST') {
      const body = await request.setEncoding('utf8').toArray();
      accountId = new URLSearchParams(body.join('')).get('name');
    }
    if (!accountId) return response.setHeader('content-type', 'text/html').end(PAGE);
    const grant = new provider.Grant({ accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    const result = { login: { accountId }, consent: { grantId: await grant.save() } };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  };
  const serve = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url.startsWith('/interaction/')) return serve(request, response);
    return interact(request, response).catch((error) => response.writeHead(500).end(error.message));
  });
  console.log(`issuer ${issuer}`);
});
