import { writeErrors } from "../dialect/errors.ts";
import type { Pack } from "../mapping/pack.ts";

/** The body that answers what is no HTTP. */
export const badRequestBody = ({ dialect }: Pack): string =>
  JSON.stringify(writeErrors([{ reason: "This is not an HTTP request." }], dialect.errors));
