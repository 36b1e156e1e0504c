import { z } from "zod";

const name = z.string().min(1);
const path = z.string().startsWith("/");
const values = z.record(name, z.string());

/** How an application is let in: alpha's three calls, and what they become at v4's login server. */
export const oauth = z.strictObject({
  /** Members of every call, the same on both sides. */
  client: name,
  secret: name,
  /** GET: the browser is sent on to the login server. */
  authorize: z.strictObject({
    alpha: path,
    v4: path,
    /** Parameters that go on as they are. The first names the client; none may come twice. */
    keeps: z.array(name),
    /** Alpha's parameter with the scopes, and every name that it has at login servers. */
    scopes: name,
    v4_scopes: z.array(name).min(1),
    /** Parameters that the gateway adds. */
    add: values,
  }),
  /** POST: a code becomes a token. */
  token: z.strictObject({
    alpha: path,
    v4: path,
    code: name,
    /** Members of alpha's answer. */
    answer: z.strictObject({ scopes: name, token: name }),
    /** Members of v4's, the scopes under the first name that is there. */
    v4_answer: z.strictObject({ scopes: z.array(name).min(1), token: name, lasts: name, refresh: name }),
  }),
  /** POST of the gateway's own: a refresh token becomes the next token. Its answer is that of `token`. */
  refresh: z.strictObject({
    v4: path,
    token: name,
    add: values,
    /** What a refusal says of a refresh token that will never be taken again (RFC 6749 5.2); no other ends a grant. */
    final: z.strictObject({ member: name, value: name }),
  }),
  /** POST: a token ends. */
  expire: z.strictObject({
    alpha: path,
    v4: path,
    token: name,
    add: values,
    /** In place of `add`, for the refresh token that goes with it. */
    add_refresh: values,
  }),
  /** GET: the browser is sent on to where the login server forgets who is signed in. */
  logout: z.strictObject({ alpha: path, v4: path }),
  /** Members of a refusal that tell the reason; the first that is there. */
  reasons: z.array(name),
});

export type OAuthDefinition = z.infer<typeof oauth>;
