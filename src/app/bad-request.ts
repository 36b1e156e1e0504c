import type { Pack } from "../mapping/pack.ts";

/** JSON body of the response to a message that is not valid HTTP. */
export const badRequestBody = ({ errors, statuses }: Pack): string =>
  JSON.stringify(errors.client.write([{ reason: "This is not an HTTP request." }], statuses.invalid));
