import { addressNetworks } from "../../base/index.ts";
import { HttpError } from "../../pack/index.ts";
import type { RequestContext } from "../pipeline/context.ts";
import { header, type AlphaRequest } from "../pipeline/request.ts";

/** Members of a form; none is repeated. */
export type Form = Readonly<Record<string, string>>;

/** Tokens, codes and secrets are short. */
const MAX_BYTES = 65_536;
/** Far more than any request of OAuth has. */
const MAX_MEMBERS = 100;

const FORM_TYPE = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

/** Whether a form may have more members than allowed. Counts separators, because parsing costs far more. */
function hasTooManyMembers(body: Buffer, type: string): boolean {
  const separator = /^multipart/i.test(type) ? "\n--" : "&";
  let at = -1;
  for (let count = 0; count <= MAX_MEMBERS; count += 1) {
    at = body.indexOf(separator, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** Parses a form. @throws {HttpError} 400 for a body that is none, or has more than 100 members */
export async function parseForm(body: Buffer, type: string): Promise<[string, unknown][]> {
  if (hasTooManyMembers(body, type)) throw new HttpError(400, "The form has too many members.");
  return formMembers(body, type);
}

async function formMembers(body: Buffer, type: string): Promise<[string, unknown][]> {
  try {
    // Node parses both types; Express would need a parser for each.
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
 * @throws {HttpError} 400 for another type of body, more than 100 members, a repeated member, a file, and for all missing members at once.
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
