import { z } from "zod";

const name = z.string().min(1);
const path = z.string().startsWith("/");
const values = z.record(name, z.string());

/** OAuth: alpha's endpoints, and their endpoints at v4's login server. */
export const oauth = z.strictObject({
  /** Members of every request, the same in alpha and v4. */
  client: name,
  secret: name,
  /** GET: redirects the browser to the login server. */
  authorize: z.strictObject({
    alpha: path,
    v4: path,
    /** Parameters that are forwarded unchanged. The first one names the client. None may be repeated. */
    keeps: z.array(name),
    /** Alpha's parameter with the scopes, and all names that login servers use for it. */
    scopes: name,
    v4_scopes: z.array(name).min(1),
    /** Parameters that the gateway adds. */
    add: values,
  }),
  /** POST: exchanges a code for a token. */
  token: z.strictObject({
    alpha: path,
    v4: path,
    code: name,
    /** Members of alpha's response. */
    answer: z.strictObject({ scopes: name, token: name }),
    /** Members of v4's response. The first name of `scopes` that is present is used. */
    v4_answer: z.strictObject({ scopes: z.array(name).min(1), token: name, lasts: name, refresh: name }),
  }),
  /** POST, sent by the gateway only: exchanges a refresh token for a new token. The response is that of `token`. */
  refresh: z.strictObject({
    v4: path,
    token: name,
    add: values,
    /** The error that makes a refresh token permanently invalid (RFC 6749 5.2). Other errors are temporary. */
    final: z.strictObject({ member: name, value: name }),
  }),
  /** POST: revokes a token. */
  expire: z.strictObject({
    alpha: path,
    v4: path,
    token: name,
    add: values,
    /** Used in place of `add` to revoke the refresh token of the token. */
    add_refresh: values,
  }),
  /** GET: redirects the browser to the sign-out page of the login server. */
  logout: z.strictObject({ alpha: path, v4: path }),
  /** Members of an error with the reason. The first one that is present is used. */
  reasons: z.array(name),
});

export type OAuthDefinition = z.infer<typeof oauth>;
