/** The schema of checks, and of the errors if checks or calls fail. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { errorStatus } from "../values/text-types.ts";
import { textKey } from "../values/key-schemas.ts";

const name = z.string().min(1);

const outcomeKeys = {
  status: about(
    errorStatus.optional(),
    "The client's status, 400 to 599, if no other rule is broken. Default: as for an invalid request.",
    409,
  ),
  code: textKey("The client's code. Default: as for an invalid request.", "conflict"),
};

/** The schema of the status and the code of a failure. */
export const failure = z
  .strictObject(outcomeKeys)
  .refine(({ status, code }) => status !== undefined || code !== undefined, "needs a status or a code");

/** The schema of `failures` of a route. */
export const failures = z.strictObject({
  checks: about(
    failure.optional(),
    "Checks of the body and of calls without a status and code of their own.",
    {
      status: 409,
    },
  ),
});

/** Creates the schema of a check. @param field The schema of the field. @param example an example of the message */
export const checkDefinition = <T extends z.ZodType>(field: T, example: string) =>
  z.strictObject({
    field,
    message: about(
      name,
      "JSONata over the client's body: the text of the error. Only a text that is not empty is an error.",
      example,
    ),
    ...outcomeKeys,
  });

/**
 * A rule that JSON Schema can't express: an expression whose result is the reason of an error, or undefined. Without
 * `field`, the error concerns the whole request.
 */
export type CheckDefinition = z.infer<ReturnType<typeof checkDefinition<z.ZodOptional<z.ZodString>>>>;
