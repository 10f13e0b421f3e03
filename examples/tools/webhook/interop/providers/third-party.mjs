// Libraries for senders without a library of their own: npm `@hookflo/tern` and
// `nuxt-webhook-validators`. The latter needs a module that only Nuxt has.

import { register } from "node:module";
import { WebhookVerificationService } from "@hookflo/tern";

const hooks = `
  export const resolve = (name, context, next) =>
    name === "#imports"
      ? { url: "data:text/javascript,export const useRuntimeConfig = (event) => event.config", shortCircuit: true }
      : next(name, context);
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

const folder = "./node_modules/nuxt-webhook-validators/dist/runtime/server/lib/validators";

/** Validator of one file, whose settings are `config(key)`. */
export async function nuxt(file, name, config) {
  const { [name]: isValid } = await import(`${folder}/${file}.js`);
  return ({ headers, body }, key) => {
    const clone = () => ({ text: async () => body });
    const webhook = { [file.replace(".post", "")]: config(key) };
    return isValid({ node: { req: { headers } }, req: { clone }, config: { webhook } });
  };
}

/** Verification by the platform of this name. */
export const tern = (platform) => async ({ url, headers, body }, key) => {
  const request = new Request(url, { method: "POST", headers, body });
  return (await WebhookVerificationService.verifyWithPlatformConfig(request, platform, key)).isValid;
};
