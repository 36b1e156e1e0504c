/** Request bodies: a JSON object, or nothing, which counts as an empty one. */

import type { Body } from "../rules/check.ts";
import { invalid } from "./problem.ts";

/** @throws {Problem} 400 where the text is not well-formed JSON, or is not an object. */
export function parseBody(text: string): Body {
  if (text.trim() === "") return {};
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalid("The body is not well-formed JSON");
  }
  if (body === null || typeof body !== "object" || Array.isArray(body)) {
    throw invalid("The body must be a JSON object");
  }
  return body as Body;
}
