import { z } from "zod";
import { about } from "../../base/index.ts";

const name = z.string().min(1);
const path = z.string().startsWith("/");
const values = z.record(name, z.string());

const client = about(path, "The client's path.", "/oauth/authorize");
const upstream = about(path, "The path at the upstream's login server.", "/oauth/authorize");

/** OAuth: the client's endpoints, and their endpoints at the upstream's login server. */
export const oauth = z.strictObject({
  client_id: about(name, "The member with the client's id, the same on both sides.", "client_id"),
  client_secret: about(name, "The member with the client's secret, the same on both sides.", "client_secret"),
  authorize: about(
    z.strictObject({
      client,
      upstream,
      pass: about(
        z.array(name),
        "Parameters that are forwarded unchanged. The first one names the client. None may be repeated.",
        ["client_id", "redirect_uri", "state"],
      ),
      scopes: about(name, "The client's parameter with the scopes.", "scopes"),
      upstream_scopes: about(z.array(name).min(1), "All names that login servers use for it.", [
        "scope",
        "scopes",
      ]),
      set: about(values, "Parameters that the gateway adds.", { response_type: "code" }),
    }),
    "GET: redirects the browser to the login server.",
    { client: "/oauth/authorize", upstream: "/oauth/authorize" },
  ),
  token: about(
    z.strictObject({
      client,
      upstream,
      code: about(name, "The member with the code.", "code"),
      response: about(
        z.strictObject({
          scopes: about(name, "The member with the scopes.", "scopes"),
          token: about(name, "The member with the token.", "access_token"),
        }),
        "Members of the client's response.",
        { scopes: "scopes", token: "access_token" },
      ),
      upstream_response: about(
        z.strictObject({
          scopes: about(z.array(name).min(1), "The first one that is present is used.", ["scope"]),
          token: about(name, "The member with the token.", "access_token"),
          expires_in: about(name, "The member with the lifetime in seconds.", "expires_in"),
          refresh_token: about(name, "The member with the refresh token.", "refresh_token"),
        }),
        "Members of the upstream's response.",
        { scopes: ["scope"], token: "access_token" },
      ),
    }),
    "POST: exchanges a code for a token.",
    { client: "/oauth/token", upstream: "/oauth/token" },
  ),
  refresh: about(
    z.strictObject({
      upstream,
      token: about(name, "The member with the refresh token.", "refresh_token"),
      set: about(values, "Members that the gateway adds.", { grant_type: "refresh_token" }),
      final_error: about(
        z.strictObject({
          member: about(name, "The member of the error.", "error"),
          value: about(name, "Its value.", "invalid_grant"),
        }),
        "The error that makes a refresh token permanently invalid (RFC 6749 5.2). Other errors are temporary.",
        { member: "error", value: "invalid_grant" },
      ),
    }),
    "POST, sent by the gateway only: exchanges a refresh token for a new token. The response is that of `token`.",
    { upstream: "/oauth/token", token: "refresh_token" },
  ),
  revoke: about(
    z.strictObject({
      client,
      upstream,
      token: about(name, "The member with the token.", "token"),
      set: about(values, "Members that the gateway adds.", { token_type_hint: "access_token" }),
      set_for_refresh: about(values, "The same to revoke the refresh token of the token.", {
        token_type_hint: "refresh_token",
      }),
    }),
    "POST: revokes a token.",
    { client: "/oauth/token/expire", upstream: "/oauth/revoke" },
  ),
  logout: about(
    z.strictObject({ client, upstream }),
    "GET: redirects the browser to the sign-out page of the login server.",
    { client: "/logout", upstream: "/logout" },
  ),
  error_messages: about(
    z.array(name),
    "Members of an error with its message. The first one that is present is used.",
    ["error_description", "error"],
  ),
});

export type OAuthDefinition = z.infer<typeof oauth>;
