/** Calls of functions: functions of an expression, bound functions, and built-in ones. */
import { Failure } from "./failure.ts";
import { checkItems, checkText, enterCall, leaveCall, tick, tickArguments } from "./guard.ts";
import type { CheckArguments } from "./signature.ts";

/** A function that an expression defines, or that its caller has bound. */
export type Callable = (...args: unknown[]) => unknown;

/** A built-in function. */
export interface Builtin {
  readonly name: string;
  readonly run: Callable;
  readonly check: CheckArguments;
}

/** Calls a function. @throws {Failure} T1006 If `called` is not a function; D1011, D1012; errors of the function. */
export function call(called: unknown, args: readonly unknown[], context?: unknown): unknown {
  tick();
  if (typeof called !== "function") throw new Failure("T1006");
  enterCall();
  const result: unknown = Reflect.apply(called, context, args);
  if (result instanceof Promise) throw new Failure("unknown", "a bound function returns a promise");
  leaveCall();
  return result;
}

/** Calls a built-in function. @param context replaces a missing argument if the signature allows it @throws {Failure} */
export function callBuiltin(
  { name, run, check }: Builtin,
  args: readonly unknown[],
  context: unknown,
): unknown {
  tick();
  const checked = check(args, context);
  tickArguments(checked);
  const result = run(...checked);
  if (typeof result === "string") checkText(result.length, `$${name}`);
  else if (Array.isArray(result)) checkItems(result.length, `$${name}`);
  return result;
}
