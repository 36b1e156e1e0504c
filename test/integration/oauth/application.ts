/** An application of alpha's days, registered at the sandbox, that signs users in through a gateway. */
import type { TestResponse } from "../../support/gateway.ts";
import { signIn, type SignIn } from "../sandbox/sign-in.ts";

export const CLIENT = "9f0c1d2e3b4a59687766";
export const SECRET = "5a7f0c1d2e3b4a596877665a7f0c1d2e3b4a596877665a7f0c1d2e3b4a596877";
export const REGISTERED = "https://app.example.net/callback";

export interface Application {
  authorizeUrl(query: Readonly<Record<string, string>> | string): string;
  /** Sends a user to sign in; where the browser ends up. */
  signIn(scopes: string | undefined, how?: Partial<SignIn>): Promise<URL>;
  post(
    path: string,
    form: Readonly<Record<string, string>> | FormData | string,
    type?: string,
  ): Promise<TestResponse>;
  /** Exchanges a code. */
  exchange(code: string, change?: Readonly<Record<string, string>>): Promise<TestResponse>;
  /** All of it: a token for these scopes. */
  token(scopes: string, how?: Partial<SignIn>): Promise<{ token: string; scopes: string }>;
  expire(token: string, change?: Readonly<Record<string, string>>): Promise<TestResponse>;
}

/** @param url of the gateway */
export function createApplication(url: string, client = { id: CLIENT, secret: SECRET }): Application {
  const own = { client_id: client.id, client_secret: client.secret };
  const authorizeUrl: Application["authorizeUrl"] = (query) =>
    `${url}/oauth/authorize?${typeof query === "string" ? query : new URLSearchParams(query).toString()}`;

  const post: Application["post"] = async (path, form, type) => {
    const response = await fetch(url + path, {
      method: "POST",
      body: typeof form === "string" || form instanceof FormData ? form : new URLSearchParams(form),
      ...(type !== undefined && { headers: { "content-type": type } }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: JSON.parse(text),
    };
  };

  const exchange: Application["exchange"] = (code, change = {}) =>
    post("/oauth/token", { ...own, code, ...change });

  const begin: Application["signIn"] = (scopes, how = {}) =>
    signIn({
      authorize: authorizeUrl({ client_id: client.id, ...(scopes !== undefined && { scopes }) }),
      ...how,
    });

  return {
    authorizeUrl,
    post,
    exchange,
    signIn: begin,
    async token(scopes, how) {
      const back = await begin(scopes, how);
      const { body } = await exchange(back.searchParams.get("code") ?? "");
      return { token: body.access_token, scopes: body.scopes };
    },
    expire: (token, change = {}) => post("/oauth/token/expire", { ...own, token, ...change }),
  };
}
