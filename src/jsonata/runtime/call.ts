import { asFailure, Failure } from "./failure.ts";
import { enterCall, leaveCall, tick } from "./guard.ts";
import { messageOf } from "./error-messages.ts";
import { signatureFromAst as signatureFrom, type ParsedSignature, type Signature } from "./signature.ts";

type AnyFunction = (...args: unknown[]) => unknown;

/**
 * A function in an evaluation: a lambda of the expression, a built-in function, or a function that the caller has bound.
 * A lambda takes the context of its caller as an additional first argument, which its tail calls need.
 */
export interface Callable extends AnyFunction {
  kind?: "lambda" | "builtin";
  arity?: number;
  signature?: Signature;
  /** Position of its last call in the source. */
  position?: number;
}

/** Whether a value is a function. Each can be called, also one without the marks of a {@link Callable}. */
export const isCallable = (value: unknown): value is Callable => typeof value === "function";

/** A tail call of a lambda. It runs after the lambda has returned, so the stack does not grow. */
class TailCall {
  readonly resume: () => unknown;

  constructor(make: () => unknown) {
    this.resume = make;
  }
}

/** A `?` among the arguments of a partial application. */
export const PLACEHOLDER = Symbol("placeholder");

/** The value of a variable before it is set. */
export const UNSET = Symbol("not set");

/** Turns `run` into a lambda. Its first argument is the context of the caller. */
export function createLambda(run: AnyFunction, arity: number, signature?: ParsedSignature): Callable {
  const callable: Callable = run;
  callable.kind = "lambda";
  callable.arity = arity;
  if (signature) callable.signature = signatureFrom(signature);
  return callable;
}

/** Turns `run` into a built-in function. */
export function createBuiltin(run: AnyFunction, arity: number, signature?: Signature): Callable {
  const callable: Callable = run;
  callable.kind = "builtin";
  callable.arity = arity;
  if (signature) callable.signature = signature;
  return callable;
}

/** Returns the number of arguments that a function takes. */
export const arityOf = (called: Callable): number => called.arity ?? called.length;

function runFunction(called: Callable, args: readonly unknown[], context: unknown): unknown {
  if (called.kind === "lambda") return called(context, ...args);
  if (called.kind === "builtin") return called(...args);
  const result: unknown = Reflect.apply(called, context, args);
  if (result instanceof Promise) throw new Failure("unknown", 0, "a bound function returns a promise");
  return result;
}

/**
 * Calls a function once. The result may be a {@link TailCall}.
 *
 * @throws {Failure} With the position of the call.
 */
function applyOnce(called: unknown, args: readonly unknown[], context: unknown): unknown {
  tick();
  if (!isCallable(called)) throw new Failure("T1006");
  try {
    const checked = called.signature ? called.signature.check(args, context) : args;
    return runFunction(called, checked, context);
  } catch (thrown) {
    const failure = asFailure(thrown);
    if (called.position) failure.position = called.position;
    throw failure;
  }
}

/**
 * Calls a function and then its tail calls, until there is a result.
 *
 * @param context Replaces a missing argument where the signature of the function says so.
 * @throws {Failure} T1006 If `called` is not a function; whatever fails in the function.
 */
export function apply(called: unknown, args: readonly unknown[], context: unknown): unknown {
  enterCall();
  let result = applyOnce(called, args, context);
  while (result instanceof TailCall) result = result.resume();
  leaveCall();
  return result;
}

/** A function that is passed as an argument is called without context, so nothing replaces its missing arguments. */
function detachFromContext(value: unknown): unknown {
  if (!isCallable(value)) return value;
  const closure: Callable = (...args) => apply(value, args, null);
  closure.arity = arityOf(value);
  return closure;
}

/** Checks a field that is called like a function. @throws {Failure} If the field is undefined and a function has its name. */
export function rejectForgottenDollar(
  field: unknown,
  variable: unknown,
  code: string,
  position: number,
): unknown {
  if (field === undefined && variable) throw new Failure(code, position);
  return field;
}

/** A call in an expression. @param position Position of the call in the source. @throws {Failure} */
export function call(called: unknown, args: unknown[], context: unknown, position: number): unknown {
  for (let index = 0; index < args.length; index += 1)
    if (typeof args[index] === "function") args[index] = detachFromContext(args[index]);
  return callAt(called, args, context, position);
}

function callAt(called: unknown, args: readonly unknown[], context: unknown, position: number): unknown {
  if (isCallable(called) && called.kind) called.position = position;
  try {
    return apply(called, args, context);
  } catch (thrown) {
    const failure = asFailure(thrown);
    failure.position ||= position;
    throw failure;
  }
}

/** `x ~> $f(y)`: calls the function with the left side as first argument. A function on the left is passed unchanged. */
export function callPiped(
  called: unknown,
  first: unknown,
  rest: unknown[],
  context: unknown,
  position: number,
): unknown {
  return callAt(called, [first, ...rest.map(detachFromContext)], context, position);
}

/** A tail call of a lambda. As in JSONata, the error for a value that is not a function has no code here. */
export function callInTailPosition(
  called: unknown,
  args: readonly unknown[],
  context: unknown,
  position: number,
): unknown {
  if (!isCallable(called)) throw new Failure("unknown", 0, messageOf("T1006"));
  if (called.kind) called.position = position;
  try {
    return applyOnce(called, args, context);
  } catch (thrown) {
    const failure = asFailure(thrown);
    failure.position = called.position ?? position;
    throw failure;
  }
}

/** Defers a tail call until its lambda has returned. */
export const deferCall = (make: () => unknown): TailCall => new TailCall(make);

/** The chain operator: `x ~> f` calls `f`, and `f ~> g` composes two functions. @throws {Failure} T2006 */
export function pipe(left: unknown, right: unknown, position: number): unknown {
  if (typeof right !== "function") throw new Failure("T2006", position);
  if (typeof left !== "function") return apply(right, [left], null);
  return createLambda(
    (context, value) => deferCall(() => applyOnce(right, [apply(left, [value], null)], context)),
    1,
  );
}

/** `f(x, ?)`: returns a function of the arguments that are replaced by `?`. @throws {Failure} T1008 */
export function applyPartially(called: unknown, args: readonly unknown[], position: number): unknown {
  if (!isCallable(called)) throw new Failure("T1008", position);
  const given = Array.from({ length: arityOf(called) }, (_, index) => args[index]);
  const filled = (rest: readonly unknown[]): unknown[] => {
    let next = 0;
    return given.map((argument) => (argument === PLACEHOLDER ? rest[next++] : argument));
  };
  const open = given.filter((argument) => argument === PLACEHOLDER).length;
  return createLambda((context, ...rest) => {
    // As in JSONata, the signature of the function is not checked here.
    if (called.kind === "lambda") return called(context, ...filled(rest));
    return called.apply(null, filled(rest));
  }, open);
}
