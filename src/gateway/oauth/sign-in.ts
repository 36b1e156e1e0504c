/** The sender of a call to the login server, before it is served. */
import type { IncomingMessage } from "node:http";
import { type OAuthDefinition, readParameters } from "../../pack/index.ts";
import { readBasicCredentials } from "./basic-credentials.ts";
import { parseForm } from "./read-form.ts";
import { header, type AlphaRequest } from "../pipeline/request.ts";
import { peekBody } from "../bodies/peek-body.ts";

/** A call to the login server. */
export interface SignIn {
  /** The application that it names, if it names one. Anybody can name any. */
  readonly application: string | undefined;
  /** The token that it revokes. */
  readonly token: string | undefined;
}

/** Forms of sign-ins are shorter. In bytes. */
const MAX_FORM = 16_384;

/** Reads what a call to the login server names; undefined for any other request. */
export type ReadSignIn = (
  request: IncomingMessage,
  plain: AlphaRequest,
) => Promise<SignIn | undefined> | undefined;

async function readMembers(request: IncomingMessage, plain: AlphaRequest): Promise<Map<string, unknown>> {
  const body = await peekBody(request, MAX_FORM);
  try {
    return new Map(body ? await parseForm(body, header(plain, "content-type") ?? "") : []);
  } catch {
    // The service that serves it reports its errors.
    return new Map();
  }
}

/** Creates the reader for a pack. */
export function createSignInReader(oauth: OAuthDefinition | undefined): ReadSignIn {
  if (!oauth) return () => undefined;
  const { authorize, token, revoke, logout, client_id: idMember } = oauth;
  const paths = new Set([authorize, token, revoke, logout].map(({ client }) => client));
  const [idParameter = ""] = authorize.pass;
  const textOf = (value: unknown): string | undefined =>
    typeof value === "string" && value !== "" ? value : undefined;

  async function read(request: IncomingMessage, plain: AlphaRequest): Promise<SignIn> {
    const members = plain.method === "POST" ? await readMembers(request, plain) : new Map<string, unknown>();
    return {
      application:
        textOf(members.get(idMember)) ??
        textOf(readParameters(plain.query).get(idParameter)) ??
        readBasicCredentials(plain)?.client,
      token: plain.path === revoke.client ? textOf(members.get(revoke.token)) : undefined,
    };
  }

  return (request, plain) => (paths.has(plain.path) ? read(request, plain) : undefined);
}
