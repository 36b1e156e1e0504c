import type { AlphaRequest } from "../pipeline/request.ts";

/** The id and the secret of an application. */
export interface ApplicationCredentials {
  readonly client: string;
  readonly secret: string;
}

/** Undoes the form encoding that user and password have (RFC 6749 2.3.1). */
const decode = (text: string): string =>
  new URLSearchParams(`text=${text.replaceAll("&", "%26")}`).get("text") ?? "";

/** Reads HTTP Basic credentials. @returns undefined without any, and where two lines contradict each other */
export function readBasicCredentials({
  headers,
}: Pick<AlphaRequest, "headers">): ApplicationCredentials | undefined {
  const [line = "", ...others] = headers["authorization"] ?? [];
  const encoded = /^basic +([\w+/=-]+)$/i.exec(line)?.[1];
  if (encoded === undefined || others.length > 0) return undefined;
  const [user = "", ...secret] = Buffer.from(encoded, "base64").toString().split(":");
  // Without a colon the text may be the secret.
  if (secret.length === 0) return undefined;
  const credentials = { client: decode(user), secret: decode(secret.join(":")) };
  // RFC 6749, appendix A: an id and a secret have no control characters, which a store may not take.
  return /[\p{Cc}]/u.test(credentials.client + credentials.secret) ? undefined : credentials;
}
