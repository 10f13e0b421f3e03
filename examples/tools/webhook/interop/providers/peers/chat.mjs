// Messages, calls and mail.

import { parse } from "node:querystring";
import { ElevenLabsClient } from "@elevenlabs/elevenlabs-js";
import { validateSignature } from "@line/bot-sdk";
import { EventWebhook } from "@sendgrid/eventwebhook";
import bolt from "@slack/bolt";
import { EventSubMiddleware } from "@twurple/eventsub-http";
import { AwsLambdaReceiver } from "@zoom/rivet/users";
import { verifyKey } from "discord-interactions";
import { Bot, webhookCallback } from "grammy";
import Telnyx from "telnyx";
import twilio from "twilio";
import { WhatsAppAPI } from "whatsapp-api-js";
import { compact, ed25519, escaped, hmac, p256, rfc3339, unusual } from "../recipes.mjs";

const discord = ed25519(1);
const telnyx = ed25519(2);
const sendgrid = p256(3);
const jsonBody = unusual({ sid: "SM2", author: "Zoë Ångström 🌍", path: "a/b" });

function verifySlack({ headers, body }, signingSecret) {
  const timestamp = Number(headers["x-slack-request-timestamp"]);
  bolt.verifySlackRequest({ signingSecret, body, headers: { ...headers, "x-slack-request-timestamp": timestamp } });
  return true;
}

async function verifyTelegram({ url, headers, body }, secretToken) {
  const botInfo = { id: 1, is_bot: true, first_name: "bot", username: "bot" };
  const handle = webhookCallback(new Bot("1:token", { botInfo }), "std/http", { secretToken });
  return (await handle(new Request(url, { method: "POST", headers, body }))).status === 200;
}

function verifyTwitch({ headers, body }, secret) {
  const listener = new EventSubMiddleware({ apiClient: { _authProvider: {} }, hostName: "example.com", secret });
  const [id, time, signature] = ["id", "timestamp", "signature"].map((name) => headers[`twitch-eventsub-message-${name}`]);
  return listener._verifyData(id, time, body, signature);
}

async function verifyZoom({ headers, body }, webhooksSecretToken) {
  const { debug } = console;
  console.debug = () => {}; // it prints each event
  try {
    const handle = new AwsLambdaReceiver({ webhooksSecretToken }).start();
    return (await handle({ body, headers, isBase64Encoded: false }, {})).statusCode === 200;
  } finally {
    console.debug = debug;
  }
}

const isJson = (url) => url.includes("bodySHA256=");

function signTwilio({ url, body }, key) {
  const signature = twilio.getExpectedTwilioSignature(key, url, isJson(url) ? {} : { ...parse(body) });
  return { "x-twilio-signature": signature };
}

function verifyTwilio({ url, headers, body }, key) {
  const signature = headers["x-twilio-signature"];
  if (isJson(url)) return twilio.validateRequestWithBody(key, signature, url, body);
  return twilio.validateRequest(key, signature, url, { ...parse(body) });
}

const form = "application/x-www-form-urlencoded";

export default [
  {
    provider: "slack",
    library: "@slack/bolt",
    how: "verifySlackRequest; signed by node:crypto",
    keys: ["8f742231b10e8888abcd99yyyzzz85a5"],
    signature: "x-slack-signature",
    timestamp: "x-slack-request-timestamp",
    id: { pointer: "/event_id" },
    other: "zoom",
    sign: ({ body }, key, now) => ({
      "x-slack-signature": `v0=${hmac(key, "hex", `v0:${now}:${body}`)}`,
      "x-slack-request-timestamp": String(now),
    }),
    verify: verifySlack,
    requests: [
      { body: compact({ token: "ZZZZZZWSxiZZZ2yIvs3peJ", team_id: "T123ABC456", api_app_id: "A123ABC456", event: { type: "message", text: "hello", ts: "1700000000.000100" }, type: "event_callback", event_id: "Ev123ABC456", event_time: 1700000000 }) },
      { body: unusual({ type: "event_callback", event_id: "Ev2", event: { text: "Zoë Ångström 🌍", path: "a/b" } }) },
      { body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fexample.com%2Fcommands%2FT1DC2JH3J&trigger_id=398738663015.47445629121.803a0bc8&text=Gr%C3%BC%C3%9Fe+%F0%9F%8C%8D", type: form },
    ],
  },
  {
    provider: "discord",
    library: "discord-interactions",
    how: "verifyKey; signed by node:crypto",
    keys: [discord.publicBytes.toString("hex")],
    wrongKey: telnyx.publicBytes.toString("hex"),
    isKeyPair: true,
    signature: "x-signature-ed25519",
    timestamp: "x-signature-timestamp",
    id: { pointer: "/id" },
    other: "slack",
    sign: ({ body }, _, now) => ({
      "x-signature-ed25519": discord.sign(`${now}${body}`).toString("hex"),
      "x-signature-timestamp": String(now),
    }),
    verify: ({ headers, body }, key) => verifyKey(body, headers["x-signature-ed25519"], headers["x-signature-timestamp"], key),
    requests: [
      { body: compact({ application_id: "1058", id: "846462639134605312", token: "aW50ZXJhY3Rpb24", type: 2, version: 1, data: { id: "771825006014889984", name: "cardsearch" } }) },
      { body: unusual({ id: "846462639134605313", type: 2, data: { name: "Zoë Ångström 🌍", path: "a/b" } }) },
    ],
  },
  {
    provider: "line",
    library: "@line/bot-sdk",
    how: "validateSignature; signed by node:crypto",
    keys: ["8c570fa6dd201bb328f1c1eac23a96d8"],
    signature: "x-line-signature",
    id: null,
    other: "shopify",
    sign: ({ body }, key) => ({ "x-line-signature": hmac(key, "base64", body) }),
    verify: ({ headers, body }, key) => validateSignature(body, key, headers["x-line-signature"]),
    requests: [
      { body: compact({ destination: "U8e742f61d673b39c7fff3cecb7536ef0", events: [{ type: "message", webhookEventId: "01FZ74A0TDDPYRVKNK77XKC3ZR", timestamp: 1700000000123, message: { id: "444573844083572737", type: "text", text: "Hello" } }] }) },
      { body: unusual({ destination: "U1", events: [{ message: { text: "Zoë Ångström 🌍 こんにちは", path: "a/b" } }] }) },
    ],
  },
  {
    provider: "telegram",
    library: "grammy",
    how: "webhookCallback",
    isToken: true,
    keys: ["telegram_secret-0123456789"],
    signature: "x-telegram-bot-api-secret-token",
    id: { pointer: "/update_id" },
    other: "gitlab",
    sign: (_, key) => ({ "x-telegram-bot-api-secret-token": key }),
    verify: verifyTelegram,
    requests: [
      { body: compact({ update_id: 10000, message: { message_id: 1365, date: 1700000000, chat: { id: 1111111, type: "private" }, text: "hello" } }) },
      { body: unusual({ update_id: 10001, message: { message_id: 1366, date: 1700000000, chat: { id: 1, type: "private", first_name: "Zoë Ångström 🌍" }, text: "a/b" } }) },
    ],
  },
  {
    provider: "meta",
    library: "whatsapp-api-js",
    how: "verifyRequestSignature; signed by node:crypto",
    keys: ["meta-app-secret-0123456789"],
    signature: "x-hub-signature-256",
    id: null,
    other: "gitea",
    sign: ({ body }, key) => ({ "x-hub-signature-256": `sha256=${hmac(key, "hex", body)}` }),
    verify: ({ headers, body }, appSecret) => new WhatsAppAPI({ token: "token", appSecret, v: "v21.0" }).verifyRequestSignature(body, headers["x-hub-signature-256"]),
    // Meta escapes all characters beyond ASCII
    requests: [
      { body: compact({ object: "whatsapp_business_account", entry: [{ id: "102290129340398", changes: [{ value: { messaging_product: "whatsapp", messages: [{ from: "16505551234", id: "wamid.HBg", timestamp: "1700000000", text: { body: "Hi" }, type: "text" }] }, field: "messages" }] }] }) },
      { body: ` ${escaped({ object: "page", entry: [{ id: "1", messaging: [{ message: { mid: "m_2", text: "Zoë Ångström 🌍" } }] }] })}\r\n\t` },
    ],
  },
  {
    provider: "twitch",
    library: "@twurple/eventsub-http",
    how: "EventSubMiddleware; signed by node:crypto",
    keys: ["s3cre7-0123456789"],
    signature: "twitch-eventsub-message-signature",
    timestamp: "twitch-eventsub-message-timestamp",
    id: { header: "twitch-eventsub-message-id" },
    other: "github",
    sign: ({ id, body }, key, now) => {
      const time = rfc3339(now).replace("Z", ".634234626Z");
      return {
        "twitch-eventsub-message-id": id,
        "twitch-eventsub-message-timestamp": time,
        "twitch-eventsub-message-signature": `sha256=${hmac(key, "hex", id, time, body)}`,
      };
    },
    verify: verifyTwitch,
    requests: [
      { body: compact({ subscription: { id: "f1c2a387-161a-49f9-a165-0f21d7a4e1c4", type: "channel.follow", version: "2", status: "enabled" }, event: { user_id: "1234", user_login: "cool_user" } }), id: "e76c6bd4-55c9-4987-8304-da1588d8988b" },
      { body: unusual({ subscription: { type: "channel.update" }, event: { title: "Zoë Ångström 🌍", path: "a/b" } }), id: "befa7b53-d79d-478f-86b9-120f112b044e" },
    ],
  },
  {
    provider: "zoom",
    library: "@zoom/rivet",
    how: "AwsLambdaReceiver; signed by node:crypto",
    reparses: true,
    keys: ["zoom-secret-0123456789"],
    signature: "x-zm-signature",
    timestamp: "x-zm-request-timestamp",
    id: null,
    other: "slack",
    sign: ({ body }, key, now) => ({
      "x-zm-signature": `v0=${hmac(key, "hex", `v0:${now}:${body}`)}`,
      "x-zm-request-timestamp": String(now),
    }),
    verify: verifyZoom,
    requests: [
      { body: compact({ event: "meeting.started", event_ts: 1700000000123, payload: { account_id: "AAAAAABBBB", object: { id: "1234567890", uuid: "4444AAAiAAAAAiAiAiiAii==", topic: "My Meeting" } } }) },
      { body: compact({ event: "user.updated", payload: { object: { first_name: "Zoë", last_name: "Ångström 🌍", dept: "a/b" } } }) },
    ],
  },
  {
    provider: "twilio",
    library: "twilio",
    how: "getExpectedTwilioSignature",
    keys: ["12345"],
    url: "https://example.com/myapp",
    signature: "x-twilio-signature",
    id: null,
    other: "vercel",
    tamper: (body) => (body.startsWith("{") || body === "" ? `${body} ` : `${body}&x=1`),
    sign: signTwilio,
    verify: verifyTwilio,
    requests: [
      { body: "CallSid=CA1234567890ABCDE&Caller=%2B14158675310&Digits=1234&From=%2B14158675310&To=%2B18005551212", query: "foo=1&bar=2", type: form },
      { body: "Body=Gr%C3%BC%C3%9Fe+%26+%F0%9F%8C%8D%0D%0Aa%3Db&NumMedia=0&Empty=&MessageSid=SM1&body=lower&A-b=1&A.b=2", type: form },
      { body: "MediaUrl=b&MediaUrl=a&MediaUrl=b&SmsSid=SM2&Empty=&Empty=", query: "q=%20%2B&r", type: form },
      { body: jsonBody, query: `messageSid=SM2&bodySHA256=${twilio.getExpectedBodyHash?.(jsonBody)}` },
      { body: "", query: "CallSid=CA2&From=%2B14158675310", method: "GET" },
    ],
  },
  {
    provider: "sendgrid",
    library: "@sendgrid/eventwebhook",
    how: "EventWebhook.verifySignature; signed by node:crypto",
    keys: [sendgrid.spki],
    wrongKey: p256(4).spki,
    isKeyPair: true,
    isRandom: true,
    signature: "x-twilio-email-event-webhook-signature",
    timestamp: "x-twilio-email-event-webhook-timestamp",
    id: null,
    other: "slack",
    sign: ({ body }, _, now) => ({
      "x-twilio-email-event-webhook-signature": sendgrid.sign(`${now}${body}`),
      "x-twilio-email-event-webhook-timestamp": String(now),
    }),
    verify: ({ headers, body }, key) => {
      const library = new EventWebhook();
      const [signature, time] = ["signature", "timestamp"].map((name) => headers[`x-twilio-email-event-webhook-${name}`]);
      return library.verifySignature(library.convertPublicKeyToECDSA(key), body, signature, time);
    },
    requests: [
      { body: `${compact([{ email: "hello@example.com", event: "dropped", reason: "Bounced Address", sg_event_id: "ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA", timestamp: 1700000000 }])}\r\n` },
      { body: unusual([{ email: "zoe@example.com", event: "click", category: "Zoë Ångström 🌍", url: "a/b" }]) },
    ],
  },
  {
    provider: "elevenlabs",
    library: "@elevenlabs/elevenlabs-js",
    how: "webhooks.constructEvent; signed by node:crypto",
    keys: ["wsec_0123456789abcdef"],
    signature: "elevenlabs-signature",
    timestamp: "elevenlabs-signature",
    id: null,
    other: "stripe",
    sign: ({ body }, key, now) => ({ "elevenlabs-signature": `t=${now},v0=${hmac(key, "hex", `${now}.${body}`)}` }),
    verify: async ({ headers, body }, key) => {
      const client = new ElevenLabsClient({ apiKey: "key" });
      return Boolean(await client.webhooks.constructEvent(body, headers["elevenlabs-signature"], key));
    },
    requests: [
      { body: compact({ type: "post_call_transcription", event_timestamp: 1700000000, data: { agent_id: "xyz", conversation_id: "abc", status: "done" } }) },
      { body: unusual({ type: "post_call_audio", data: { text: "Zoë Ångström 🌍", path: "a/b" } }) },
    ],
  },
  {
    provider: "telnyx",
    library: "telnyx",
    how: "webhooks.unwrap; signed by node:crypto",
    keys: [telnyx.publicBytes.toString("base64")],
    wrongKey: discord.publicBytes.toString("base64"),
    isKeyPair: true,
    signature: "telnyx-signature-ed25519",
    timestamp: "telnyx-timestamp",
    id: { pointer: "/data/id" },
    other: "slack",
    sign: ({ body }, _, now) => ({
      "telnyx-signature-ed25519": telnyx.sign(`${now}|${body}`).toString("base64"),
      "telnyx-timestamp": String(now),
    }),
    verify: async ({ headers, body }, key) => Boolean(await new Telnyx({ apiKey: "key" }).webhooks.unwrap(body, { headers, key })),
    requests: [
      { body: compact({ data: { event_type: "message.received", id: "0ccc7b54-4df3-4bca-a65a-3da1ecc777f0", occurred_at: "2023-11-14T22:13:20.000Z", payload: { direction: "inbound", text: "Hello" } }, meta: { attempt: 1 } }) },
      { body: unusual({ data: { id: "ev-2", payload: { text: "Zoë Ångström 🌍", path: "a/b" } } }) },
    ],
  },
];
