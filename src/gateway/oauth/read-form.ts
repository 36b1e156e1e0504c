/** Reads the calls to the login server: forms, the credentials of an application, and the application that signs in. */
import { addressNetworks } from "../../base/index.ts";
import { HttpError, type OAuthDefinition, readBasic, readParameters } from "../../pack/index.ts";
import type { RequestContext } from "../request/context.ts";
import { type AlphaRequest, header } from "../request/request.ts";
import type { IncomingMessage } from "node:http";
import { peekBody } from "../bodies/peek-body.ts";

/** Members of a form, without repeated ones. */
export type Form = Readonly<Record<string, string>>;

/** Maximum length of a value. Tokens, codes and secrets are short. */
const MAX_BYTES = 65_536;
/** Maximum number of members, far more than any request of OAuth has. */
const MAX_MEMBERS = 100;

const FORM_TYPE = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

/** Whether a form may have too many members. It counts separators, because parsing is far more expensive. */
function hasTooManyMembers(body: Buffer, type: string): boolean {
  const separator = /^multipart/i.test(type) ? "\n--" : "&";
  let at = -1;
  for (let count = 0; count <= MAX_MEMBERS; count += 1) {
    at = body.indexOf(separator, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** Parses a form. @throws {HttpError} 400 for a body that is not a form, or has more than 100 members */
export async function parseForm(body: Buffer, type: string): Promise<[string, unknown][]> {
  if (hasTooManyMembers(body, type)) throw new HttpError(400, "The form has too many members.");
  try {
    // Node parses both types. Express would need a parser for each.
    const data = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
    return [...data];
  } catch {
    throw new HttpError(400, "The body could not be read as a form.");
  }
}

/**
 * Reads a form, `application/x-www-form-urlencoded` or `multipart/form-data`.
 *
 * @param required Members that must not be missing or empty.
 * @throws {HttpError} 400 for a wrong type of body, more than 100 members, a repeated member, a file, and for missing
 *   members, which are reported together.
 */
export async function readForm(
  request: AlphaRequest,
  context: Pick<RequestContext, "body">,
  required: readonly string[],
): Promise<Form> {
  const type = header(request, "content-type") ?? "";
  if (!FORM_TYPE.test(type))
    throw new HttpError(400, "The body must be application/x-www-form-urlencoded or multipart/form-data.");
  const owner = { isKnown: false, token: undefined, networks: addressNetworks(request.address) };
  const body = (await request.readBody?.(owner, MAX_BYTES)) ?? Buffer.alloc(0);
  context.body = { bytes: body };
  const form: Record<string, string> = Object.create(null) as Record<string, string>;
  const members = await parseForm(body, type);
  context.body = { bytes: body, form: members };
  for (const [name, value] of members) {
    if (Object.hasOwn(form, name)) throw new HttpError(400, "A member of the form came twice.");
    if (typeof value !== "string") throw new HttpError(400, "The form must not hold files.");
    form[name] = value;
  }
  const missing = required.filter((name) => !form[name]);
  if (missing.length > 0)
    throw new HttpError(
      400,
      missing.map((name) => ({ reason: `${name} is required.` })),
    );
  return form;
}

/** A call to the login server. */
export interface SignIn {
  /** The application in the call, if there is one. Any client can send any application. */
  readonly application: string | undefined;
  /** The token that the call revokes. */
  readonly token: string | undefined;
}

/** Maximum number of bytes of a form. Forms for sign-ins are shorter. */
const MAX_FORM = 16_384;

/** Reads the application and the token in a call to the login server. Undefined for any other request. */
type ReadSignIn = (request: IncomingMessage, plain: AlphaRequest) => Promise<SignIn | undefined> | undefined;

async function readMembers(request: IncomingMessage, plain: AlphaRequest): Promise<Map<string, unknown>> {
  const body = await peekBody(request, MAX_FORM);
  try {
    return new Map(body ? await parseForm(body, header(plain, "content-type") ?? "") : []);
  } catch {
    // The handler of the call reports its errors.
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

/** The id and the secret of an application. */
export interface ApplicationCredentials {
  readonly client: string;
  readonly secret: string;
}

/** Decodes the form encoding of user and password (RFC 6749 2.3.1). */
const decode = (text: string): string =>
  new URLSearchParams(`text=${text.replaceAll("&", "%26")}`).get("text") ?? "";

/** Reads HTTP Basic credentials. @returns undefined if not found, or if two lines contradict each other */
export function readBasicCredentials({
  headers,
}: Pick<AlphaRequest, "headers">): ApplicationCredentials | undefined {
  const [line = "", ...others] = headers["authorization"] ?? [];
  const encoded = /^basic +([\w+/=-]+)$/i.exec(line)?.[1];
  if (encoded === undefined || others.length > 0) return undefined;
  const basic = readBasic(encoded);
  // Without a colon, the text may be the secret.
  if (!basic) return undefined;
  const credentials = { client: decode(basic.user), secret: decode(basic.password) };
  // RFC 6749, appendix A: an id and a secret contain no control characters, which a store may reject.
  return /[\p{Cc}]/u.test(credentials.client + credentials.secret) ? undefined : credentials;
}
