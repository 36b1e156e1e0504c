/** Signs a user in on the sandbox's consent page, as a browser without scripts does. */
import type { RequestListener } from "node:http";
import { request, type RequestOptions, type TestResponse } from "../support/request.ts";

/** Applications without a port, by origin. Requests to other origins use the network. */
export type Applications = Readonly<Record<string, RequestListener>>;

export interface SignIn {
  /** URL of the login server, or of a gateway in front of it. */
  readonly authorize: string;
  readonly applications?: Applications;
  /** Default: the owner of the main account. */
  readonly username?: string;
  readonly decision?: "allow" | "deny";
  /** In place of the scopes that the page has selected. */
  readonly scopes?: readonly string[];
}

/** Requests a URL from the application of its origin, or over the network. */
export function visit(
  method: string,
  { origin, host, pathname, search }: URL,
  applications: Applications = {},
  options: RequestOptions = {},
): Promise<TestResponse> {
  const headers = { host, ...options.headers };
  return request(applications[origin] ?? origin, `${method} ${pathname}${search}`, { ...options, headers });
}

/** Follows redirects up to a page. */
export async function openPage(
  address: string,
  applications?: Applications,
): Promise<{ url: URL; html: string; cookie: string }> {
  let url = new URL(address);
  for (let hops = 0; hops < 3; hops += 1) {
    const { headers, text } = await visit("GET", url, applications);
    const location = headers.get("location");
    if (location === null) {
      const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
      return { url, html: text, cookie };
    }
    url = new URL(location, url);
  }
  throw new Error(`${address} leads to no page`);
}

/** What a form of the page would send. */
export function formOf(html: string): URLSearchParams {
  const ticket = /name="ticket" value="([0-9a-f]+)"/.exec(html)?.[1] ?? "";
  const scopes = [...html.matchAll(/<select name="scope"><option value="([^"]*)"/g)].map(
    ([, scope = ""]) => scope,
  );
  return new URLSearchParams([
    ["ticket", ticket],
    ...scopes.map((scope): [string, string] => ["scope", scope]),
  ]);
}

/** Where the login server redirects the browser in the end. */
export async function signIn({
  authorize,
  applications,
  username = "ops-anna",
  decision = "allow",
  scopes,
}: SignIn): Promise<URL> {
  const { url, html, cookie } = await openPage(authorize, applications);
  const form = formOf(html);
  form.set("username", username);
  form.set("decision", decision);
  if (scopes) form.delete("scope");
  for (const scope of scopes ?? []) form.append("scope", scope);
  const { headers, text } = await visit("POST", new URL("/oauth/authorize", url), applications, {
    headers: { cookie, origin: url.origin },
    raw: form,
  });
  return new URL(headers.get("location") ?? `problem:${text}`);
}
