// Payments and accounting.

import adyen from "@adyen/api-library";
import coinbase from "coinbase-commerce-node";
import { parse as parseGoCardless } from "gocardless-nodejs/webhooks";
import { Environment, Paddle } from "@paddle/paddle-node-sdk";
import Razorpay from "razorpay";
import { WebhooksHelper } from "square";
import Stripe from "stripe";
import { compact, hmac, unusual } from "../recipes.mjs";
import { tern } from "../third-party.mjs";

const stripe = new Stripe("sk_test_1");
const paddle = new Paddle("pdl_1", { environment: Environment.sandbox });

export default [
  {
    provider: "stripe",
    library: "stripe",
    how: "webhooks.generateTestHeaderString",
    keys: ["whsec_test_secret"],
    oldKey: "whsec_old_secret",
    signature: "stripe-signature",
    timestamp: "stripe-signature",
    id: { pointer: "/id" },
    other: "paddle",
    sign: ({ body }, secret, timestamp) => ({
      "stripe-signature": stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp }),
    }),
    verify: ({ headers, body }, key) => Boolean(stripe.webhooks.constructEvent(body, headers["stripe-signature"], key)),
    join: (headers, older) => {
      const v1 = headers["stripe-signature"].split(",")[1];
      return { "stripe-signature": `${older["stripe-signature"]},${v1}` };
    },
    requests: [
      { body: compact({ id: "evt_1NG8Du2eZvKYlo2CUI79vXWy", object: "event", api_version: "2023-10-16", created: 1700000000, data: { object: { id: "pi_1", object: "payment_intent", amount: 2000, currency: "eur" } }, type: "payment_intent.succeeded" }) },
      { body: unusual({ id: "evt_2", object: "event", data: { object: { name: "Zoë Ångström 🌍", path: "a/b" } }, type: "customer.updated" }) },
    ],
  },
  {
    provider: "paddle",
    library: "@paddle/paddle-node-sdk",
    how: "webhooks.isSignatureValid; signed by node:crypto",
    keys: ["pdl_ntfset_01gkpjp8bkm3tm53kdgkx6sms7_6h3qd3uFSi9YCD3OLYAShQI90XTI5vEI"],
    signature: "paddle-signature",
    timestamp: "paddle-signature",
    id: { pointer: "/event_id" },
    other: "stripe",
    sign: ({ body }, key, now) => ({ "paddle-signature": `ts=${now};h1=${hmac(key, "hex", `${now}:${body}`)}` }),
    verify: ({ headers, body }, key) => paddle.webhooks.isSignatureValid(body, key, headers["paddle-signature"]),
    requests: [
      { body: compact({ event_id: "evt_01hv8x29kz0t586xy6zn1a62ny", event_type: "customer.created", occurred_at: "2023-11-14T22:13:20.000000Z", notification_id: "ntf_01hv8x2a", data: { id: "ctm_01hv6y1jedq4p1n0yqn5ba3ky4", status: "active" } }) },
      { body: unusual({ event_id: "evt_2", event_type: "address.updated", data: { city: "Malmö", owner: "Zoë 🌍", path: "a/b" } }) },
    ],
  },
  {
    provider: "lemon-squeezy",
    library: "@hookflo/tern",
    how: "WebhookVerificationService; signed by node:crypto",
    keys: ["lemon-secret-0123456789"],
    signature: "x-signature",
    id: null,
    other: "airwallex",
    sign: ({ body }, key) => ({ "x-signature": hmac(key, "hex", body) }),
    verify: tern("lemonsqueezy"),
    requests: [
      { body: compact({ meta: { event_name: "order_created", custom_data: { customer_id: 25 } }, data: { type: "orders", id: "1", attributes: { total: 999, currency: "USD" } } }) },
      { body: unusual({ meta: { event_name: "order_refunded" }, data: { id: "2", attributes: { user_name: "Zoë Ångström 🌍", path: "a/b" } } }) },
    ],
  },
  {
    provider: "coinbase-commerce",
    library: "coinbase-commerce-node",
    how: "Webhook.verifyEventBody; signed by its computeSignature",
    keys: ["cc-shared-secret-0123456789"],
    signature: "x-cc-webhook-signature",
    id: { pointer: "/event/id" },
    other: "razorpay",
    sign: ({ body }, key) => ({ "x-cc-webhook-signature": coinbase.Webhook.computeSignature(body, key) }),
    verify: ({ headers, body }, key) => Boolean(coinbase.Webhook.verifyEventBody(body, headers["x-cc-webhook-signature"], key)),
    requests: [
      { body: compact({ id: 1, scheduled_for: "2023-11-14T22:13:20Z", event: { id: "24934862-d980-46cb-9402-43c81b0cdba6", resource: "event", type: "charge:created", data: { code: "66BEOV2A" } } }) },
      { body: unusual({ attempt_number: 1, event: { id: "evt-2", type: "charge:failed", data: { name: "Zoë Ångström 🌍", path: "a/b" } } }) },
    ],
  },
  {
    provider: "square",
    library: "square",
    how: "WebhooksHelper.verifySignature; signed by node:crypto",
    keys: ["asdf1234asdf1234asdf12"],
    url: "https://example.com/hooks",
    signature: "x-square-hmacsha256-signature",
    id: { pointer: "/event_id" },
    other: "shopify",
    sign: ({ url, body }, key) => ({ "x-square-hmacsha256-signature": hmac(key, "base64", url, body) }),
    verify: ({ url, headers, body }, key) =>
      WebhooksHelper.verifySignature({
        requestBody: body,
        signatureHeader: headers["x-square-hmacsha256-signature"],
        signatureKey: key,
        notificationUrl: url,
      }),
    requests: [
      { body: compact({ merchant_id: "MLEFBHHSJGVHD", type: "webhooks.test_notification", event_id: "ac3ac95b-f97d-458c-a6e6-18981597e05f", created_at: "2023-11-14T22:13:20.123Z", data: { type: "webhooks", id: "bc368e64" } }) },
      { body: unusual({ event_id: "ev-2", type: "customer.updated", data: { name: "Zoë Ångström 🌍", path: "a/b" } }), query: "shop=1&x=%20" },
    ],
  },
  {
    provider: "razorpay",
    library: "razorpay",
    how: "validateWebhookSignature; signed by node:crypto",
    keys: ["razorpay-secret-0123456789"],
    signature: "x-razorpay-signature",
    id: null,
    other: "coinbase-commerce",
    sign: ({ body }, key) => ({ "x-razorpay-signature": hmac(key, "hex", body) }),
    verify: ({ headers, body }, key) => Razorpay.validateWebhookSignature(body, headers["x-razorpay-signature"], key),
    requests: [
      { body: compact({ entity: "event", account_id: "acc_BFQ7uQEaa7j2z7", event: "payment.captured", contains: ["payment"], payload: { payment: { entity: { id: "pay_DESlfW9H8K9uqM", amount: 100, currency: "INR" } } }, created_at: 1700000000 }) },
      { body: unusual({ event: "payment.failed", payload: { notes: { customer: "Zoë Ångström 🌍", path: "a/b", price: "₹ 500" } } }) },
    ],
  },
  {
    provider: "gocardless",
    library: "gocardless-nodejs",
    how: "webhooks.parse; signed by node:crypto",
    keys: ["ED7D658C-D8EB-4941-948B-3973214F2D49"],
    signature: "webhook-signature",
    id: null,
    other: "cloudflare-stream",
    sign: ({ body }, key) => ({ "webhook-signature": hmac(key, "hex", body) }),
    verify: ({ headers, body }, key) => Boolean(parseGoCardless(body, key, headers["webhook-signature"])),
    requests: [
      { body: compact({ events: [{ id: "EV00BD05S5VM2T", created_at: "2023-11-14T22:13:20.000Z", resource_type: "subscriptions", action: "created", links: { subscription: "SB0003JJQ2MR06" } }], meta: { webhook_id: "WB00BD05TB8K63" } }) },
      { body: unusual({ events: [{ id: "EV2", details: { description: "Zoë Ångström 🌍", path: "a/b" } }], meta: { webhook_id: "WB2" } }) },
    ],
  },
  {
    provider: "adyen",
    library: "@adyen/api-library",
    how: "hmacValidator.calculateHmac",
    keys: ["44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"],
    signature: "hmacsignature",
    id: null,
    other: "shopify",
    sign: ({ body }, key) => ({ hmacsignature: new adyen.hmacValidator().calculateHmac(body, key) }),
    verify: ({ headers, body }, key) => new adyen.hmacValidator().validateHMACSignature(key, headers.hmacsignature, body),
    requests: [
      { body: compact({ data: { balancePlatform: "Integration_tools_test", accountHolder: { id: "AH32272223222H5HVKTBK4MLB", status: "active" } }, environment: "test", type: "balancePlatform.accountHolder.created" }) },
      { body: unusual({ type: "balancePlatform.transfer.created", data: { description: "Zoë Ångström 🌍", path: "a/b" } }) },
    ],
  },
];
