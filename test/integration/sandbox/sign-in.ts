/** Goes through the sandbox's consent page as a browser without scripts does. */

export interface SignIn {
  /** Address of the login server, or of what stands before it. */
  readonly authorize: string;
  /** Default: the owner of the main account. */
  readonly username?: string;
  readonly decision?: "allow" | "deny";
  /** In place of what the page has chosen: each asked scope. */
  readonly scopes?: readonly string[];
}

/** Follows redirects up to a page. */
export async function openPage(address: string): Promise<{ url: URL; html: string; cookie: string }> {
  let url = new URL(address);
  for (let hops = 0; hops < 3; hops += 1) {
    const response = await fetch(url, { redirect: "manual" });
    const location = response.headers.get("location");
    if (location === null) {
      const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
      return { url, html: await response.text(), cookie };
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

/** Where the login server sends the browser in the end. */
export async function signIn({
  authorize,
  username,
  decision: answer = "allow",
  scopes,
}: SignIn): Promise<URL> {
  const { url, html, cookie } = await openPage(authorize);
  const form = formOf(html);
  form.set("username", username ?? "ops-anna");
  form.set("answer", answer);
  if (scopes) form.delete("scope");
  for (const scope of scopes ?? []) form.append("scope", scope);
  const response = await fetch(`${url.origin}/oauth/authorize`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie, origin: url.origin },
    body: form,
  });
  return new URL(response.headers.get("location") ?? `problem:${await response.text()}`);
}
