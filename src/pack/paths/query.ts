/** The query of a request: its parameters, and the text for the query of a different request. */
import { cutText, parseJson } from "../../base/index.ts";
import { HttpError } from "../errors/http-error.ts";

/** All values of each parameter, decoded, in the order of the query. */
export type Query = ReadonlyMap<string, readonly string[]>;

/** Maximum number of parameters of a query, repeated ones included. */
const MAX_PARAMETERS = 1000;

const NO_PARAMETERS: Query = new Map();

/**
 * Reads the parameters of a query without its question mark. `URLSearchParams` removes a question mark at the start of
 * a text, but here it is a part of the first name.
 */
export const readParameters = (text: string): URLSearchParams => new URLSearchParams(`&${text}`);

/**
 * Parses a query.
 *
 * @param text Without the question mark.
 * @throws {HttpError} 400 if there are more than {@link MAX_PARAMETERS} parameters.
 */
export function parseQuery(text: string): Query {
  if (text === "") return NO_PARAMETERS;
  const query = new Map<string, string[]>();
  let count = 0;
  for (const [name, value] of readParameters(text)) {
    count += 1;
    if (count > MAX_PARAMETERS) throw new HttpError(400, `There are more than ${MAX_PARAMETERS} parameters.`);
    const values = query.get(name);
    if (values) values.push(value);
    else query.set(name, [value]);
  }
  return query;
}

/** Maximum length of a name in an error or a record. Longer names are cut, so that they do not repeat a whole query. */
const MAX_NAME_LENGTH = 60;

/** Shortens the name of a client's parameter for an error or a record. */
export const shortName = (name: string): string => cutText(name, MAX_NAME_LENGTH + 1);

/**
 * Encodes a name or a value for a query. A blank is `%20`, which all servers decode. Commas, colons and slashes stay
 * readable: they have no meaning in a query (RFC 3986, section 3.4).
 */
const encodeQuery = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(/%(?:2C|3A|2F)/g, decodeURIComponent);

/** Returns one parameter as the text of a query. */
export const formatParameter = (name: string, value: string): string =>
  `${encodeQuery(name)}=${encodeQuery(value)}`;

/** The types that the text of a parameter can have. */
export type ValueType = "string" | "integer" | "number" | "boolean";

/** Matches a number in JSON (RFC 8259, section 6), or an integer. The number of digits is limited. */
const NUMBER = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?(?:[eE][+-]?\d{1,3})?$/;
const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/;

/** Converts a text to a value of a type; undefined if it has a different type, or is a number that would be rounded. */
export function parseScalar(text: string, type: ValueType): string | number | boolean | undefined {
  if (type === "string") return text;
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  if (!(type === "integer" ? INTEGER : NUMBER).test(text)) return undefined;
  const number = parseJson(text);
  return typeof number === "number" ? number : undefined;
}
