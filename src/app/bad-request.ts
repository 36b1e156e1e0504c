import { writeErrors } from "../dialect/errors.ts";
import type { Pack } from "../mapping/pack.ts";

/** JSON body of the response to a message that is not valid HTTP. */
export const badRequestBody = ({ dialect }: Pack): string =>
  JSON.stringify(writeErrors([{ reason: "This is not an HTTP request." }], dialect.errors));
