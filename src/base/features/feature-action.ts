/** An action of a person on a feature, by the admin API or the command line: both read the same declaration. */
import type { z } from "zod";
import type { CommandResult, CommandSyntax } from "./feature-command.ts";

/** The result of an action: the command line prints its blocks, and the admin API returns its data together with the status. */
type ActionResult = Partial<CommandResult> & { readonly data?: object };

interface ActionDeclaration {
  /** `POST /api/FEATURE/NAME`. */
  readonly name: string;
  /** The correct request, for a client that sent an invalid one. Undefined if the admin API does not offer the action. */
  readonly usage?: string;
  /** The command that does the same. Undefined if the command line does not offer the action. */
  readonly command?: CommandSyntax;
}

/** @template Parts The open feature */
export interface FeatureAction<Parts> extends ActionDeclaration {
  /**
   * Validates the input.
   *
   * @returns A function that executes the action, and may throw a {@link RefusedError}. Undefined if the input is
   *   invalid
   */
  accept(input: unknown, parts: Parts): (() => Promise<ActionResult>) | undefined;
}

/** Creates an action. */
export const createAction = <Parts, Input>({
  form,
  run,
  ...declaration
}: ActionDeclaration & {
  readonly form: z.ZodType<Input>;
  run(parts: Parts, input: Input): Promise<ActionResult>;
}): FeatureAction<Parts> => ({
  ...declaration,
  accept(input, parts) {
    const { success, data } = form.safeParse(input);
    return success ? () => run(parts, data) : undefined;
  },
});

/** The action can't be carried out. The message names the reason and the remedy. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly code: string;
  /** Whether the action names something that does not exist. */
  readonly isUnknown: boolean;

  constructor(code: string, message: string, { isUnknown = false } = {}) {
    super(message);
    this.code = code;
    this.isUnknown = isUnknown;
  }
}
