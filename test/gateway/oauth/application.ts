/** An application of alpha's days, registered at the sandbox, that signs users in through a gateway. */
import { request, type Target, type TestResponse } from "../../support/request.ts";
import { signIn, visit, type Applications, type SignIn } from "../../sandbox/sign-in.ts";

export const CLIENT = "9f0c1d2e3b4a59687766";
export const SECRET = "5a7f0c1d2e3b4a596877665a7f0c1d2e3b4a596877665a7f0c1d2e3b4a596877";
export const REGISTERED = "https://app.example.net/callback";

/** Where a gateway without a port seems to be. */
const ORIGIN = "http://gateway.example";

type Query = Readonly<Record<string, string>> | string;

export interface Application {
  authorizeUrl(query: Query): string;
  /** Sends a browser to a URL; redirects are not followed. */
  visit(url: string): Promise<TestResponse>;
  /** Signs a user in, and returns where the browser is redirected in the end. */
  signIn(scopes: string | undefined, how?: Partial<SignIn>): Promise<URL>;
  post(
    path: string,
    form: Readonly<Record<string, string>> | FormData | string,
    type?: string,
  ): Promise<TestResponse>;
  /** Exchanges a code. */
  exchange(code: string, change?: Readonly<Record<string, string>>): Promise<TestResponse>;
  /** Signs a user in and exchanges the code for a token. */
  token(scopes: string, how?: Partial<SignIn>): Promise<{ token: string; scopes: string }>;
  expire(token: string, change?: Readonly<Record<string, string>>): Promise<TestResponse>;
}

/** @param target The gateway: its application or its URL. */
export function createApplication(target: Target, client = { id: CLIENT, secret: SECRET }): Application {
  const origin = typeof target === "string" ? target : ORIGIN;
  const applications: Applications = typeof target === "string" ? {} : { [ORIGIN]: target };
  const credentials = { client_id: client.id, client_secret: client.secret };

  const authorizeUrl: Application["authorizeUrl"] = (query) =>
    `${origin}/oauth/authorize?${typeof query === "string" ? query : new URLSearchParams(query).toString()}`;

  const post: Application["post"] = (path, form, type) =>
    request(target, `POST ${path}`, {
      raw: typeof form === "string" || form instanceof FormData ? form : new URLSearchParams(form),
      ...(type !== undefined && { headers: { "content-type": type } }),
    });

  const exchange: Application["exchange"] = (code, change = {}) =>
    post("/oauth/token", { ...credentials, code, ...change });

  const signInFor: Application["signIn"] = (scopes, how = {}) =>
    signIn({
      authorize: authorizeUrl({ client_id: client.id, ...(scopes !== undefined && { scopes }) }),
      applications,
      ...how,
    });

  return {
    authorizeUrl,
    visit: (url) => visit("GET", new URL(url), applications),
    post,
    exchange,
    signIn: signInFor,
    async token(scopes, how) {
      const redirect = await signInFor(scopes, how);
      const { body } = await exchange(redirect.searchParams.get("code") ?? "");
      return { token: body.access_token, scopes: body.scopes };
    },
    expire: (token, change = {}) => post("/oauth/token/expire", { ...credentials, token, ...change }),
  };
}
