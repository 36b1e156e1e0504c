import type { Bindings } from "../../../jsonata/index.ts";
import type { ReadContext } from "../../translation-context.ts";
import { networkAddress as networkOf } from "../ip-address.ts";
import type { FieldContext } from "./field-context.ts";

/** The variables of expressions over a v4 object. */
export const READ_VARIABLES = ["value", "related", "values", "networkOf", "request", "scopesOf"];

/** Functions whose results depend on their arguments alone. */
export const PURE_VARIABLES: ReadonlySet<string> = new Set(["values", "networkOf"]);

/** Creates the function that gives the variables their values for one object. */
export const createReadBindings =
  ({ lookup: values, scopesOf }: FieldContext) =>
  (value: unknown, { related, sentBody: request }: ReadContext): Bindings => ({
    value,
    related,
    request,
    values,
    networkOf,
    scopesOf,
  });
