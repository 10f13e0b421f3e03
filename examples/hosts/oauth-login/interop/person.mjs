// A person at the app `node person.mjs APP ISSUER`: signs in by the pages of the issuer, is
// greeted, signs out; and what an attacker does with the link by which a browser comes back.
import assert from "node:assert/strict";
import { Browser } from "./browser.mjs";

const [app, issuer] = process.argv.slice(2).map((url) => new URL(url));
const at = (path) => new URL(path, app);
const person = { email: "grace", password: "any will do" };

async function page(browser) {
  const response = await browser.open(at("/"));
  assert.equal(response.status, 200);
  return response.text();
}

async function check(what, probe) {
  await probe();
  console.log(`  ${what}`);
}

await check("the browser has no session at first", async () => {
  assert.match(await page(new Browser()), /Not signed in/);
});

const browser = new Browser();
await check("a person signs in at the issuer and is known at the app", async () => {
  await browser.signIn(at("/login"), at("/"), { person });
  const greeting = await page(browser);
  for (const said of ["Hello grace", "grace@example.com", issuer.href.slice(0, -1)]) assert.ok(greeting.includes(said), said);
  assert.match(await page(new Browser()), /Not signed in/);
});

await check("the link back is of use to its browser alone, and once", async () => {
  const victim = new Browser();
  const link = await victim.signIn(at("/login"), at("/callback"), { person });
  const open = async (browser, url) => (await browser.open(url)).status;
  assert.equal(await open(new Browser(), link), 400);
  const stranger = new Browser();
  await stranger.signIn(at("/login"), at("/callback"), { person });
  assert.equal(await open(stranger, link), 400);
  const theirs = new Browser();
  const other = await theirs.signIn(at("/login"), at("/callback"), { person });
  other.searchParams.set("iss", "https://evil.example");
  assert.equal(await open(theirs, other), 400);
  assert.equal(await open(victim, link), 303);
  assert.equal(await open(victim, link), 400);
  assert.match(await page(victim), /Hello grace/);
});

await check("a form without the CSRF token signs no user out", async () => {
  assert.equal((await browser.open(at("/sign-out"), new URLSearchParams())).status, 403);
  assert.match(await page(browser), /Hello grace/);
});

await check("a person who signs out at the issuer is signed out at the app", async () => {
  const [here, other] = [new Browser(), new Browser()];
  for (const browser of [here, other]) await browser.signIn(at("/login"), at("/"), { person });
  assert.match(await page(here), /Hello grace/);
  const question = await here.open(new URL("/session/end", issuer));
  const [, action, xsrf] = (await question.text()).match(/action="([^"]+)"[\s\S]*name="xsrf" value="([^"]+)"/);
  const answer = new URLSearchParams({ xsrf, logout: "yes" });
  assert.equal((await here.open(new URL(action, issuer), answer)).status, 303);
  // the issuer does not wait for the app
  for (let tries = 0; tries < 50 && /Hello/.test(await page(here)); tries++) await new Promise((resolve) => setTimeout(resolve, 100));
  assert.match(await page(here), /Not signed in/);
  // another session of the same user goes on
  assert.match(await page(other), /Hello grace/);
});

await check("a forged logout token signs no user out", async () => {
  for (const body of ["logout_token=a.b.c", "", "logout_token=x&logout_token=y"]) {
    const response = await fetch(at("/backchannel-logout"), { method: "POST", body: new URLSearchParams(body) });
    assert.equal(response.status, 400);
  }
  assert.match(await page(browser), /Hello grace/);
});

await check("a person signs out", async () => {
  const [, token] = (await page(browser)).match(/name="csrf_token" value="([^"]+)"/);
  assert.equal((await browser.open(at("/sign-out"), new URLSearchParams({ csrf_token: token }))).status, 303);
  assert.match(await page(browser), /Not signed in/);
});
