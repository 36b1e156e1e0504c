import { HttpError } from "../../dialect/http-error.ts";
import { header, type AlphaRequest, type RequestContext } from "../../pipeline/context.ts";
import { receiveBody } from "../../pipeline/stages/read-body.ts";

/** Members of a form; none is repeated. */
export type Form = Readonly<Record<string, string>>;

/** Tokens, codes and secrets are short. */
const MAX_BYTES = 65_536;

const FORM_TYPE = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

async function membersOf(body: Buffer, type: string): Promise<[string, unknown][]> {
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
 * @throws {HttpError} 400 for another type of body, a repeated member, a file, and for all missing members at once.
 */
export async function readForm(
  request: AlphaRequest,
  context: RequestContext,
  required: readonly string[],
): Promise<Form> {
  const type = header(request, "content-type") ?? "";
  if (!FORM_TYPE.test(type))
    throw new HttpError(400, "The body must be application/x-www-form-urlencoded or multipart/form-data.");
  const body = (await receiveBody(request, context, false, MAX_BYTES)) ?? Buffer.alloc(0);
  const form: Record<string, string> = Object.create(null) as Record<string, string>;
  context.form = await membersOf(body, type);
  for (const [name, value] of context.form) {
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
