/** The consent page, on which a user authorizes an application. It needs no scripts. */

import { createHash } from "node:crypto";

interface ConsentPageData {
  readonly client: string;
  readonly scopes: readonly string[];
  readonly users: readonly string[];
  readonly ticket: string;
}

const style = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  main { max-width: 28rem; margin: 3rem auto; padding: 0 1rem; }
  h1 { font-size: 1.4rem; }
  label { display: flex; justify-content: space-between; gap: 1rem; margin: 0.75rem 0; }
  select, button { font: inherit; padding: 0.4rem 0.8rem; }
  .decision { display: flex; gap: 1rem; margin-top: 1.5rem; }
`;

const styleHash = createHash("sha256").update(style).digest("base64");

/**
 * Returns the headers of every page of the login server.
 *
 * @param target The address to which the form may redirect: `form-action` blocks redirects to other addresses.
 */
export function pageHeaders(target?: string): Record<string, string> {
  const url = URL.parse(target ?? "");
  const source = url && (url.origin === "null" ? url.protocol : url.origin);
  const leads = source && !/[\s;,']/.test(source) ? ` ${source}` : "";
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `form-action 'self'${leads}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy.join("; "),
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    // With `no-referrer`, browsers would send `Origin: null`, and the form could not be recognized as our own.
    "Referrer-Policy": "same-origin",
  };
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body><main>
<h1>${escapeHtml(title)}</h1>
${body}
</main></body>
</html>
`;
}

/** Returns the scopes that a user may grant for a requested one: that, less, or nothing. */
export function choicesFor(scope: string): readonly string[] {
  return scope.endsWith(":read_write") ? [scope, scope.replace("read_write", "read_only"), ""] : [scope, ""];
}

function levelText(scope: string): string {
  if (scope === "") return "nothing";
  if (scope === "*") return "everything";
  return scope.endsWith(":read_write") ? "read and write" : "read only";
}

function scopeField(scope: string): string {
  const choices = choicesFor(scope).map(
    (choice) => `<option value="${escapeHtml(choice)}">${escapeHtml(levelText(choice))}</option>`,
  );
  const name = scope === "*" ? "The whole account" : (scope.split(":")[0] ?? "");
  return `<label>${escapeHtml(name)} <select name="scope">${choices.join("")}</select></label>`;
}

export function consentPage({ client, scopes, users, ticket }: ConsentPageData): string {
  const names = users.map((user) => `<option>${escapeHtml(user)}</option>`);
  return page(
    `Let ${client} in?`,
    `<form method="post" action="/oauth/authorize">
<input type="hidden" name="ticket" value="${ticket}">
<label>Sign in as <select name="username">${names.join("")}</select></label>
<p>${scopes.length > 0 ? "It asks for access to:" : "It asks for your username and e-mail address only."}</p>
${scopes.map(scopeField).join("\n")}
<p class="decision"><button name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button></p>
</form>
<p>This is a sandbox: its users have no passwords.</p>`,
  );
}

export function problemPage(reason: string): string {
  return page("That did not work", `<p>${escapeHtml(reason)}</p>`);
}

export const signedOutPage = (): string => page("You are signed out", "<p>You can close this page.</p>");
