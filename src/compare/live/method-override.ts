/** Requests that may be something else than their method says, for a service that lets clients override it. */
import { decodeBody } from "../../audit/index.ts";
import { namesMethod, readParameters } from "../../pack/index.ts";
import type { AlphaRequest } from "../../gateway/index.ts";

/** The parameter of Rails, Laravel and Symfony. PHP reads the other spellings as the same name. */
const PARAMETER = /^\s*[_.[ ]method(?![\w-])/i;
/** The name of a member, or of a part of a form. */
const NAME = /(?<!\w)_method(?!\w)/i;
/** A character of a JSON text by its number. */
const ESCAPED = /\\u([0-9a-f]{4})/gi;

/** Some servers also separate parameters by semicolons. */
const hasParameter = (text: string): boolean =>
  [...readParameters(text.replaceAll(";", "&")).keys()].some((name) => PARAMETER.test(name));

/** Whether a request names another method, so that the old service may take a read for a write. */
export const overridesMethod = ({ headers, query }: Pick<AlphaRequest, "headers" | "query">): boolean =>
  Object.keys(headers).some(namesMethod) || (query !== "" && hasParameter(query));

/** Whether a body may name another method: a form, JSON, or a text that is not UTF-8, which others may read. */
export function bodyOverridesMethod(bytes: Buffer): boolean {
  const text = decodeBody({ bytes });
  if (text === undefined) return true;
  const plain = text.replaceAll(ESCAPED, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return NAME.test(plain) || hasParameter(text);
}
