import { CONDITIONAL } from "../headers/request-headers.ts";
import type { Route } from "./route.ts";

/** Whether a route can respond with 304, because the client already has the object. */
export const mayBeNotModified = ({ name, source, headers }: Route): boolean =>
  !("error" in source) &&
  (Object.keys(headers?.definition.request ?? {}).some((header) => CONDITIONAL.has(header.toLowerCase())) ||
    ((headers?.entityTag !== undefined || headers?.makesDate === true) && name.startsWith("GET ")));
