// Shops, files and office work.

import "@shopify/shopify-api/adapters/web-api";
import { spawnSync } from "node:child_process";
import { Signature } from "@hubspot/api-client";
import Mux from "@mux/mux-node";
import { shopifyApi } from "@shopify/shopify-api";
import { WorkOS } from "@workos-inc/node";
import { WebhooksManager as Box } from "box-node-sdk/managers";
import { WebflowClient } from "webflow-api";
import { compact, escaped, hmac, rfc3339, unusual } from "../recipes.mjs";
import { nuxt, tern } from "../third-party.mjs";

const dropbox = await nuxt("dropbox", "isValidDropboxWebhook", (appSecret) => ({ appSecret }));
const docusign = await nuxt("docusign", "isValidDocusignWebhook", (secretKey) => ({ secretKey }));

function shopify(apiSecretKey) {
  return shopifyApi({ apiKey: "key", apiSecretKey, apiVersion: "2025-10", hostName: "example.com", isEmbeddedApp: false, logger: { level: 0, log: () => {} } });
}

/** Verifies by PyPI `pyairtable`. */
function airtable({ headers, body }, key) {
  const words = ["peer.py", key, headers["x-airtable-content-mac"]];
  const { status, stderr } = spawnSync("venv/bin/python", words, { input: body, encoding: "utf8" });
  if (status !== 0 && !stderr.includes("failed validation")) throw new Error(stderr);
  return status === 0;
}

export default [
  {
    provider: "shopify",
    library: "@shopify/shopify-api",
    how: "webhooks.validate; signed by node:crypto",
    keys: ["hush"],
    signature: "x-shopify-hmac-sha256",
    id: null,
    other: "woocommerce",
    sign: ({ body }, key) => ({ "x-shopify-hmac-sha256": hmac(key, "base64", body) }),
    verify: async ({ url, headers, body }, key) => {
      const rawRequest = new Request(url, { method: "POST", headers, body });
      return (await shopify(key).webhooks.validate({ rawBody: body, rawRequest })).valid;
    },
    extra: () => ({
      "x-shopify-topic": "orders/create",
      "x-shopify-shop-domain": "example.myshopify.com",
      "x-shopify-api-version": "2025-10",
      "x-shopify-webhook-id": "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043",
    }),
    requests: [
      { body: compact({ id: 820982911946154500, email: "jon@example.com", created_at: "2023-11-14T17:13:20-05:00", total_price: "199.65", currency: "EUR" }) },
      { body: unusual({ id: 2, customer: { first_name: "Zoë", last_name: "Ångström 🌍" }, note: "a/b" }) },
    ],
  },
  {
    provider: "woocommerce",
    library: "@hookflo/tern",
    how: "WebhookVerificationService; signed by node:crypto",
    keys: ["wc-secret-0123456789"],
    signature: "x-wc-webhook-signature",
    id: null,
    other: "shopify",
    sign: ({ body }, key) => ({ "x-wc-webhook-signature": hmac(key, "base64", body) }),
    verify: tern("woocommerce"),
    requests: [
      { body: compact({ id: 727, parent_id: 0, status: "processing", currency: "USD", total: "29.35" }) },
      { body: unusual({ id: 728, billing: { first_name: "Zoë", last_name: "Ångström 🌍" }, note: "a/b" }) },
    ],
  },
  {
    provider: "dropbox",
    library: "nuxt-webhook-validators",
    how: "isValidDropboxWebhook; signed by node:crypto",
    keys: ["dropbox-secret-0123456789"],
    signature: "x-dropbox-signature",
    id: null,
    other: "asana",
    sign: ({ body }, key) => ({ "x-dropbox-signature": hmac(key, "hex", body) }),
    verify: dropbox,
    requests: [
      { body: compact({ list_folder: { accounts: ["dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc"] }, delta: { users: [12345678] } }) },
      { body: unusual({ list_folder: { accounts: ["dbid:Zoë Ångström 🌍"] }, path: "a/b" }) },
    ],
  },
  {
    provider: "docusign",
    library: "nuxt-webhook-validators",
    how: "isValidDocusignWebhook; signed by node:crypto",
    keys: ["docusign-secret-0123456789"],
    oldKey: "docusign-old-0123456789",
    signature: ["x-docusign-signature-1", "x-docusign-signature-2"],
    id: null,
    other: "shopify",
    sign: ({ body }, key) => ({ "x-docusign-signature-1": hmac(key, "base64", body) }),
    verify: docusign,
    join: (headers, older) => ({ ...older, "x-docusign-signature-2": headers["x-docusign-signature-1"] }),
    requests: [
      { body: compact({ event: "envelope-completed", apiVersion: "v2.1", configurationId: 10250741, data: { accountId: "0dd9b8c7", envelopeId: "ac6ca6a1" } }) },
      { body: unusual({ event: "recipient-sent", data: { name: "Zoë Ångström 🌍", path: "a/b" } }) },
    ],
  },
  {
    provider: "hubspot",
    library: "@hubspot/api-client",
    how: "Signature.getSignature",
    keys: ["hubspot-secret-0123456789"],
    url: "https://example.com/hooks",
    signature: "x-hubspot-signature-v3",
    timestamp: "x-hubspot-request-timestamp",
    id: null,
    other: "square",
    sign: ({ method, url, body }, clientSecret, now) => {
      const timestamp = now * 1000 + 123;
      const signature = Signature.getSignature(method, "v3", { clientSecret, url, requestBody: body, timestamp });
      return { "x-hubspot-signature-v3": signature, "x-hubspot-request-timestamp": String(timestamp) };
    },
    verify: ({ method, url, headers, body }, clientSecret) =>
      Signature.isValid({
        signatureVersion: "v3",
        signature: headers["x-hubspot-signature-v3"],
        timestamp: Number(headers["x-hubspot-request-timestamp"]),
        method,
        url,
        requestBody: body,
        clientSecret,
      }),
    requests: [
      { body: compact([{ eventId: 1, subscriptionId: 12345, portalId: 62515, occurredAt: 1700000000123, subscriptionType: "contact.creation", attemptNumber: 0, objectId: 123 }]) },
      { body: unusual([{ eventId: 2, propertyName: "name", propertyValue: "Zoë Ångström 🌍", path: "a/b" }]), query: "portal=62515&b=2" },
      { body: "", query: "userId=1", method: "GET" },
    ],
  },
  {
    provider: "box",
    library: "box-node-sdk",
    how: "WebhooksManager.validateMessage; signed by node:crypto",
    keys: ["box-primary-0123456789", "box-secondary-0123456789"],
    signature: ["box-signature-primary", "box-signature-secondary"],
    timestamp: "box-delivery-timestamp",
    id: { pointer: "/id" },
    other: "shopify",
    sign: ({ body }, key, now) => {
      const time = rfc3339(now - 60).replace("Z", "-00:00");
      return { "box-signature-primary": hmac(key, "base64", body, time), "box-delivery-timestamp": time };
    },
    verify: ({ headers, body }, primary, secondaryKey) => Box.validateMessage(body, headers, primary, { secondaryKey }),
    join: (headers, _, request, now) => {
      const mac = hmac("box-secondary-0123456789", "base64", request.body, headers["box-delivery-timestamp"]);
      return { ...headers, "box-signature-primary": "AAAA", "box-signature-secondary": mac };
    },
    extra: () => ({ "box-signature-version": "1", "box-signature-algorithm": "HmacSHA256", "box-delivery-id": "f96bb54b" }),
    requests: [
      { body: compact({ type: "webhook_event", id: "eb0c4e06-751f-442c-86f8-fd5bb404dbec", created_at: "2023-11-14T14:13:20-08:00", trigger: "FILE.UPLOADED", source: { id: "73835521473", type: "file", name: "report.pdf" } }) },
      { body: unusual({ id: "ev-2", trigger: "FILE.RENAMED", source: { name: "Zoë Ångström 🌍", path: "a/b" } }) },
    ],
  },
  {
    provider: "webflow",
    library: "webflow-api",
    how: "webhooks.verifySignature; signed by node:crypto",
    keys: ["webflow-secret-0123456789"],
    signature: "x-webflow-signature",
    timestamp: "x-webflow-timestamp",
    id: null,
    other: "linear",
    sign: ({ body }, key, now) => {
      const time = `${now}123`;
      return { "x-webflow-signature": hmac(key, "hex", `${time}:${body}`), "x-webflow-timestamp": time };
    },
    verify: (request, secret) => new WebflowClient({ accessToken: "token" }).webhooks.verifySignature({ headers: request.headers, body: request.body, secret }),
    requests: [
      { body: compact({ triggerType: "form_submission", payload: { name: "Contact Us", siteId: "65427cf400e02b306eaa049c", id: "6321ca84df3949bfc6752327" } }) },
      { body: unusual({ triggerType: "site_publish", payload: { publishedBy: "Zoë Ångström 🌍", path: "a/b" } }) },
    ],
  },
  {
    provider: "airtable",
    library: "pyairtable",
    how: "WebhookNotification.from_request; signed by node:crypto",
    keys: ["R0VIRUlNIEFJUlRBQkxFIFdFQkhPT0sgU0VDUkVUIDE="],
    signature: "x-airtable-content-mac",
    id: null,
    other: "linear",
    sign: ({ body }, key) => ({ "x-airtable-content-mac": `hmac-sha256=${hmac(Buffer.from(key, "base64"), "hex", body)}` }),
    verify: airtable,
    requests: [
      { body: compact({ base: { id: "app00000000000000" }, webhook: { id: "ach00000000000000" }, timestamp: "2023-11-14T22:13:20.123Z" }) },
      { body: ` {"base":{"id":"app1","name":${escaped("Zoë Ångström 🌍")}},\r\n\t"webhook" : {"id":"ach1"},"timestamp":"2023-11-14T22:13:20.000Z"} \n` },
    ],
  },
  {
    provider: "mux",
    library: "@mux/mux-node",
    how: "webhooks.verifySignature; signed by its computeSignature",
    keys: ["mux-secret-0123456789"],
    oldKey: "mux-old-0123456789",
    signature: "mux-signature",
    timestamp: "mux-signature",
    id: { pointer: "/id" },
    other: "stripe",
    sign: async ({ body }, key, now) => {
      const mac = await new Mux({ tokenId: "a", tokenSecret: "b" }).webhooks.computeSignature(`${now}.${body}`, key);
      return { "mux-signature": `t=${now},v1=${mac}` };
    },
    verify: async ({ headers, body }, key) => {
      await new Mux({ tokenId: "a", tokenSecret: "b" }).webhooks.verifySignature(body, headers, key);
      return true;
    },
    join: (headers, older) => ({ "mux-signature": `${older["mux-signature"]},${headers["mux-signature"].split(",")[1]}` }),
    requests: [
      { body: compact({ type: "video.asset.ready", id: "3a56ac3d-33da-4366-855b-f592d898409d", created_at: "2023-11-14T22:13:20.000000Z", data: { status: "ready", id: "0201p02fGKPE7MrbC269XRD7LpcHhrmbu0002" } }) },
      { body: unusual({ type: "video.asset.created", id: "ev-2", data: { passthrough: "Zoë Ångström 🌍", path: "a/b" } }) },
    ],
  },
  {
    provider: "workos",
    library: "@workos-inc/node",
    how: "webhooks.constructEvent; signed by node:crypto",
    reparses: true,
    keys: ["workos-secret-0123456789"],
    signature: "workos-signature",
    timestamp: "workos-signature",
    id: { pointer: "/id" },
    other: "linear",
    sign: ({ body }, key, now) => ({ "workos-signature": `t=${now}123, v1=${hmac(key, "hex", `${now}123.${body}`)}` }),
    verify: async ({ headers, body }, secret) => {
      const { webhooks } = new WorkOS("sk_1", { clientId: "client_1" });
      return webhooks.verifyHeader({ payload: JSON.parse(body), sigHeader: headers["workos-signature"], secret });
    },
    requests: [
      { body: compact({ id: "event_01FKJ843CVE8F7BXQSPFH0M53V", event: "dsync.user.created", data: { id: "directory_user_01E1X1B89NH8Z3SDFJR4H7RGX7", state: "active" }, created_at: "2023-11-14T22:13:20.123Z" }) },
      { body: compact({ id: "event_2", event: "user.updated", data: { first_name: "Zoë", last_name: "Ångström 🌍", path: "a/b" } }) },
    ],
  },
];
