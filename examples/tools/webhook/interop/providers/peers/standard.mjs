// Senders by Standard Webhooks.

import { verifyWebhook } from "@clerk/backend/webhooks";
import { validateEvent, WebhookVerificationError } from "@polar-sh/sdk/webhooks";
import OpenAI from "openai";
import { Resend } from "resend";
import { Webhook } from "standardwebhooks";
import { Webhook as Svix } from "svix";
import { compact, hmac, unusual } from "../recipes.mjs";

const KEY = "whsec_Tzuc4RkLS09XuInUQYOD961sTKHBtWuXC/jM6hCEqG8=";
const OLD_KEY = "whsec_OqUqbdj3qqYDaTC5ZYLJRA+cdTdANUZGgaS+8dkq0WM=";

/** Headers of a message, signed by `signature`. */
function headersOf(prefix, { id }, now, signature) {
  return { [`${prefix}-id`]: id, [`${prefix}-timestamp`]: String(now), [`${prefix}-signature`]: signature };
}

const signedBy = (library, prefix) => (request, key, now) =>
  headersOf(prefix, request, now, new library(key).sign(request.id, new Date(now * 1000), request.body));

const verifiedBy = (library) => (request, key) => {
  new library(key).verify(request.body, request.headers);
  return true;
};

/** Signatures of two keys, as during a rotation. */
const join = (name) => (headers, older) => ({ ...headers, [name]: `v1a,AAAA ${older[name]} ${headers[name]}` });

function peer(provider, library, prefix, rest) {
  return {
    provider,
    library,
    keys: [KEY],
    oldKey: OLD_KEY,
    signature: `${prefix}-signature`,
    timestamp: `${prefix}-timestamp`,
    id: { header: `${prefix}-id` },
    other: "gocardless",
    join: join(`${prefix}-signature`),
    ...rest,
  };
}

const contact = { type: "contact.created", timestamp: "2023-11-14T22:13:20Z", data: { id: "c_1", name: "Zoë Ångström 🌍", path: "a/b" } };
const events = (first) => [
  { body: compact(first), id: "msg_2Lh9KRb0pzN4LePd3XiA4v12Axj" },
  { body: unusual(contact), id: "msg_2" },
];

export default [
  peer("standard-webhooks", "standardwebhooks", "webhook", {
    how: "Webhook.sign",
    sign: signedBy(Webhook, "webhook"),
    verify: verifiedBy(Webhook),
    requests: events({ type: "invoice.paid", timestamp: "2023-11-14T22:13:20.344522Z", data: { id: "in_1", amount: 4200 } }),
  }),
  peer("gitlab-signed", "standardwebhooks", "webhook", {
    how: "Webhook.sign",
    sign: signedBy(Webhook, "webhook"),
    verify: verifiedBy(Webhook),
    requests: events({ object_kind: "push", ref: "refs/heads/main", project: { id: 15, name: "Diaspora" } }),
  }),
  peer("svix", "svix", "svix", {
    how: "Webhook.sign",
    sign: signedBy(Svix, "svix"),
    verify: verifiedBy(Svix),
    requests: events({ event_type: "ping", data: { success: true } }),
  }),
  peer("clerk", "@clerk/backend", "svix", {
    how: "verifyWebhook; signed by svix",
    sign: signedBy(Svix, "svix"),
    verify: async ({ url, headers, body }, key) => {
      await verifyWebhook(new Request(url, { method: "POST", headers, body }), { signingSecret: key });
      return true;
    },
    requests: events({ object: "event", type: "user.created", data: { id: "user_29w83sxmDNGwOuEthce5gg56FcC", first_name: "Example" } }),
  }),
  peer("resend", "resend", "svix", {
    how: "webhooks.verify; signed by svix",
    sign: signedBy(Svix, "svix"),
    verify: ({ headers, body }, key) => {
      const named = { id: headers["svix-id"], timestamp: headers["svix-timestamp"], signature: headers["svix-signature"] };
      new Resend("re_1").webhooks.verify({ payload: body, headers: named, webhookSecret: key });
      return true;
    },
    requests: events({ type: "email.delivered", created_at: "2023-11-14T22:13:20.000Z", data: { email_id: "56761188-7520", to: ["a@example.com"] } }),
  }),
  peer("openai", "openai", "webhook", {
    how: "webhooks.verifySignature; signed by standardwebhooks",
    sign: signedBy(Webhook, "webhook"),
    verify: async ({ headers, body }, key) => {
      await new OpenAI({ apiKey: "sk-1", webhookSecret: key }).webhooks.verifySignature(body, headers);
      return true;
    },
    requests: events({ id: "evt_685343a1381c819085d44c354e1b330e", object: "event", type: "response.completed", created_at: 1700000000, data: { id: "resp_1" } }),
  }),
  peer("polar", "@polar-sh/sdk", "webhook", {
    how: "webhooks.validateEvent; signed by node:crypto",
    keys: ["polar_whs_ovyN6cPrTv56AApvzCaJno08SSmGJmgbWilb33N2JuK"],
    oldKey: "polar_whs_old",
    sign: (request, key, now) => {
      const mac = hmac(key, "base64", `${request.id}.${now}.${request.body}`);
      return headersOf("webhook", request, now, `v1,${mac}`);
    },
    verify: ({ headers, body }, key) => {
      try {
        validateEvent(body, headers, key);
      } catch (error) {
        // the types of events are checked after the signature
        return !(error instanceof WebhookVerificationError);
      }
      return true;
    },
    requests: events({ type: "customer.state_changed", timestamp: "2023-11-14T22:13:20Z", data: { id: "cus_1", email: "a@example.com" } }),
  }),
];
