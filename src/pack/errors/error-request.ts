/** What errors can have of the request that they answer. */
import { cutText } from "../../base/index.ts";

/** A request that ended with an error. */
export interface ErrorRequest {
  readonly method: string;
  /** As the client wrote it, without the query. */
  readonly path: string;
  /** The decoded path parameters of its route; undefined without a route. */
  readonly parameters: Readonly<Record<string, string>> | undefined;
}

/** Where the values of a request come from. */
export interface RequestValues {
  readonly request?: ErrorRequest | undefined;
  /** The seconds of the response's `Retry-After`. */
  readonly retryAfter?: number | undefined;
}

type ReadValue = (values: RequestValues) => string | number | undefined;

/** Maximum number of characters of a text. The rest is cut. */
const MAX_TEXT_LENGTH = 500;

const toText = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : cutText(text, MAX_TEXT_LENGTH);

/** A path with an invalid escape is what the client wrote. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const VALUES: ReadonlyMap<string, ReadValue> = new Map<string, ReadValue>([
  ["method", ({ request }) => toText(request?.method)],
  ["request_path", ({ request }) => request && toText(decodePath(request.path))],
  ["retry_after", ({ retryAfter }) => retryAfter],
]);

const PARAMETER = "path.";

/** The names of values of a request; a path parameter has {@link requestNameOf}. */
export const REQUEST_NAMES: readonly string[] = [...VALUES.keys()];

/** The name of a path parameter in a shape. */
export const requestNameOf = (parameter: string): string => PARAMETER + parameter;

/** Compiles how a value of the request is read; undefined for any other name. */
export function compileRequestValue(name: string): ReadValue | undefined {
  if (!name.startsWith(PARAMETER)) return VALUES.get(name);
  const parameter = name.slice(PARAMETER.length);
  return ({ request }) => {
    const parameters = request?.parameters ?? {};
    return Object.hasOwn(parameters, parameter) ? toText(parameters[parameter]) : undefined;
  };
}

/** Whether a name has a value of the request, which all problems of an error share. */
export const isRequestName = (name: string): boolean => VALUES.has(name) || name.startsWith(PARAMETER);
