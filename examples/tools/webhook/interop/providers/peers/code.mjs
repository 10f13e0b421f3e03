// Code hosting, builds and operations.

import { LinearWebhookClient } from "@linear/sdk/webhooks";
import { signWebhookPayload, verifyWebhookSignature } from "@notionhq/client";
import { sign as signGitHub, verify as verifyGitHub } from "@octokit/webhooks-methods";
import { compact, hmac, hmacWith, unusual } from "../recipes.mjs";
import { nuxt, tern } from "../third-party.mjs";

const bitbucket = await nuxt("bitbucket", "isValidBitbucketWebhook", (secretKey) => ({ secretKey }));
const calCom = await nuxt("calcom.post", "isValidCalcomWebhook", (secretKey) => ({ secretKey }));
const heroku = await nuxt("heroku", "isValidHerokuWebhook", (secretKey) => ({ secretKey }));
const vercel = await nuxt("vercel", "isValidVercelWebhook", (secretKey) => ({ secretKey }));

export default [
  {
    provider: "github",
    library: "@octokit/webhooks-methods",
    how: "sign",
    keys: ["It's a Secret to Everybody"],
    signature: "x-hub-signature-256",
    id: null,
    other: "notion",
    sign: async ({ body }, key) => ({ "x-hub-signature-256": await signGitHub(key, body) }),
    verify: ({ headers, body }, key) => verifyGitHub(key, body, headers["x-hub-signature-256"]),
    requests: [
      { body: compact({ action: "opened", issue: { number: 1347, title: "Found a bug" }, repository: { id: 1296269, full_name: "octocat/Hello-World" } }) },
      { body: unusual({ zen: "Zoë Ångström 🌍", hook_id: 30, path: "a/b" }) },
      { body: "payload=%7B%22action%22%3A%22opened%22%2C%22title%22%3A%22Gr%C3%BC%C3%9Fe%22%7D", type: "application/x-www-form-urlencoded" },
    ],
  },
  {
    provider: "bitbucket",
    library: "nuxt-webhook-validators",
    how: "isValidBitbucketWebhook; signed by node:crypto",
    keys: ["bitbucket-secret-0123456789"],
    signature: "x-hub-signature",
    id: null,
    other: "intercom",
    sign: ({ body }, key) => ({ "x-hub-signature": `sha256=${hmac(key, "hex", body)}` }),
    verify: bitbucket,
    requests: [
      { body: compact({ push: { changes: [{ new: { type: "branch", name: "main" } }] }, repository: { full_name: "team/repo" }, actor: { display_name: "Emma" } }) },
      { body: unusual({ comment: { content: { raw: "Zoë Ångström 🌍" } }, path: "a/b" }) },
    ],
  },
  {
    provider: "gitlab",
    library: "@hookflo/tern",
    how: "WebhookVerificationService",
    isToken: true,
    keys: ["gitlab-token-0123456789"],
    signature: "x-gitlab-token",
    id: null,
    other: "telegram",
    sign: (_, key) => ({ "x-gitlab-token": key }),
    verify: tern("gitlab"),
    requests: [
      { body: compact({ object_kind: "push", ref: "refs/heads/master", checkout_sha: "da1560886d4f094c3e6c9ef40349f7d38b5d27d7", project_id: 15 }) },
      { body: unusual({ object_kind: "issue", user: { name: "Zoë Ångström 🌍" }, path: "a/b" }) },
    ],
  },
  {
    provider: "linear",
    library: "@linear/sdk",
    how: "LinearWebhookClient.verify; signed by node:crypto",
    keys: ["lin_wh_0123456789abcdef"],
    signature: "linear-signature",
    id: null,
    other: "sentry",
    sign: ({ body }, key) => ({ "linear-signature": hmac(key, "hex", body) }),
    verify: ({ headers, body }, key) => new LinearWebhookClient(key).verify(Buffer.from(body), headers["linear-signature"]),
    requests: [
      { body: compact({ action: "create", type: "Comment", data: { id: "2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9", body: "Indeed, I think this is definitely an improvement" }, webhookTimestamp: 1700000000123, webhookId: "000042e3-d123-4980-b49f-8e140eef9329" }) },
      { body: unusual({ action: "update", data: { title: "Zoë Ångström 🌍", path: "a/b" }, webhookTimestamp: 1699999990000 }) },
    ],
  },
  {
    provider: "vercel",
    library: "nuxt-webhook-validators",
    how: "isValidVercelWebhook; signed by node:crypto",
    keys: ["vercel-secret-0123456789"],
    signature: "x-vercel-signature",
    id: { pointer: "/id" },
    other: "shopify",
    sign: ({ body }, key) => ({ "x-vercel-signature": hmacWith("sha1", key, "hex", body) }),
    verify: vercel,
    requests: [
      { body: compact({ id: "uev_1", type: "deployment.created", createdAt: 1700000000123, region: "sfo1", payload: { deployment: { id: "dpl_1" }, team: { id: "team_1" } } }) },
      { body: unusual({ id: "uev_2", type: "project.created", payload: { project: { name: "Zoë Ångström 🌍", path: "a/b" } } }) },
    ],
  },
  {
    provider: "sentry",
    library: "@hookflo/tern",
    how: "WebhookVerificationService; signed by node:crypto",
    reparses: true,
    keys: ["sentry-secret-0123456789"],
    signature: "sentry-hook-signature",
    id: null,
    other: "linear",
    sign: ({ body }, key) => ({ "sentry-hook-signature": hmac(key, "hex", body) }),
    verify: tern("sentry"),
    extra: (now) => ({ "sentry-hook-timestamp": String(now), "sentry-hook-resource": "issue", "request-id": "4b6b9f2a" }),
    requests: [
      { body: compact({ action: "created", installation: { uuid: "24b3f6e8" }, data: { issue: { id: "1", title: "ValueError" } }, actor: { type: "application", id: "sentry" } }) },
      { body: compact({ action: "resolved", data: { issue: { id: "2", title: "Zoë Ångström 🌍", culprit: "a/b" } } }) },
    ],
  },
  {
    provider: "heroku",
    library: "nuxt-webhook-validators",
    how: "isValidHerokuWebhook; signed by node:crypto",
    keys: ["heroku-secret-0123456789"],
    signature: "heroku-webhook-hmac-sha256",
    id: { pointer: "/id" },
    other: "shopify",
    sign: ({ body }, key) => ({ "heroku-webhook-hmac-sha256": hmac(key, "base64", body) }),
    verify: heroku,
    requests: [
      { body: compact({ id: "c2bcf3ee-b2e2-4a2c-8e0e-1d8a9e1a1111", action: "create", resource: "build", created_at: "2023-11-14T22:13:20Z", data: { status: "pending" } }) },
      { body: unusual({ id: "wh-2", action: "update", actor: { email: "zoe@example.com", name: "Zoë Ångström 🌍" }, path: "a/b" }) },
    ],
  },
  {
    provider: "notion",
    library: "@notionhq/client",
    how: "signWebhookPayload",
    keys: ["secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl"],
    signature: "x-notion-signature",
    id: { pointer: "/id" },
    other: "github",
    sign: async ({ body }, verificationToken) => ({ "x-notion-signature": await signWebhookPayload({ body, verificationToken }) }),
    verify: ({ headers, body }, verificationToken) =>
      verifyWebhookSignature({ body, signature: headers["x-notion-signature"], verificationToken }),
    requests: [
      { body: compact({ id: "367cba44-b6f3-4c92-81e7-6a2e9659efd4", timestamp: "2023-11-14T22:13:20.123Z", type: "page.created", entity: { id: "153104cd-477e", type: "page" }, attempt_number: 1 }) },
      { body: unusual({ id: "ev-2", type: "comment.created", data: { author: "Zoë Ångström 🌍", path: "a/b" } }) },
    ],
  },
  {
    provider: "cal-com",
    library: "nuxt-webhook-validators",
    how: "isValidCalcomWebhook; signed by node:crypto",
    keys: ["cal-secret-0123456789"],
    signature: "x-cal-signature-256",
    id: null,
    other: "linear",
    sign: ({ body }, key) => ({ "x-cal-signature-256": hmac(key, "hex", body) }),
    verify: calCom,
    requests: [
      { body: compact({ triggerEvent: "BOOKING_CREATED", createdAt: "2023-11-14T22:13:20.123Z", payload: { uid: "bFJeNb2uX8ANpT3JL5EfXw", title: "60min" } }) },
      { body: unusual({ triggerEvent: "BOOKING_CANCELLED", payload: { attendee: "Zoë Ångström 🌍", location: "a/b" } }) },
    ],
  },
];
