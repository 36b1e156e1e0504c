/** Forms of a response that a client requests: status 200 in all cases, or JSON as an argument of a JavaScript function. */
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { SourceLocation } from "../../base/index.ts";
import { credentialPlaces } from "../credentials/credentials.ts";
import { readParameters } from "../paths/query.ts";

type Client = DialectDefinition["client"];

/** The requested form of a response. */
interface FormRequest {
  readonly method: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
}

/** The form of a response. */
interface AskedForm {
  readonly isAlwaysOk: boolean;
  /** The name of the function; undefined if the response is JSON. */
  readonly callback: string | undefined;
}

/** Matches the name of a function, or a dotted path to a function. Any other text could inject code. */
const FUNCTION_NAME = /^[A-Za-z_$][\w$]{0,99}(?:\.[A-Za-z_$][\w$]{0,99}){0,4}$/;

const parameterOf = (query: string, name: string | undefined): string | undefined =>
  name !== undefined && query !== "" ? (readParameters(query).get(name) ?? undefined) : undefined;

/** Compiles the forms that clients may request. Undefined if missing. */
export function compileAskedForms({
  always_ok: alwaysOk,
  callback,
}: Client): ((request: FormRequest) => AskedForm) | undefined {
  if (!alwaysOk && !callback) return undefined;
  const header = alwaysOk?.request_header?.toLowerCase() ?? "";
  return ({ method, query, headers }) => {
    const asked = headers[header]?.[0] ?? parameterOf(query, alwaysOk?.parameter);
    const name = method === "GET" || method === "HEAD" ? parameterOf(query, callback?.parameter) : undefined;
    return {
      isAlwaysOk: asked?.trim().toLowerCase() === "true",
      callback: name !== undefined && FUNCTION_NAME.test(name) ? name : undefined,
    };
  };
}

/** Returns the query parameters by which clients request a form. */
export const formParameters = ({ always_ok: alwaysOk, callback }: Client): readonly string[] =>
  [alwaysOk?.parameter, callback?.parameter].filter((name) => name !== undefined);

/** Writes a JSON text as an argument. The comment keeps other programs from misreading the response as their own format. */
export const inCallback = (callback: string, json: string): string =>
  `/**/${callback}(${json.replaceAll("\u2028", String.raw`\u2028`).replaceAll("\u2029", String.raw`\u2029`)});`;

/**
 * Reports invalid ways to request a form, and callbacks that would let any page read data with a browser's credentials.
 */
export function checkAskedForms({ client }: DialectDefinition, location: SourceLocation): void {
  const { always_ok: alwaysOk, callback, credentials } = client;
  if (alwaysOk && (alwaysOk.request_header ?? alwaysOk.parameter) === undefined)
    location
      .at("client", "always_ok")
      .report('clients can\'t ask for it: add "request_header" or "parameter"');
  if (callback && credentialPlaces(credentials).some(({ basic, cookie }) => (basic ?? cookie) !== undefined))
    location
      .at("client", "callback")
      .report(
        "browsers send cookies and Basic credentials with scripts of any page, which could read the response",
      );
}
