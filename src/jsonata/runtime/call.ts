import { asFailure, Failure } from "./failure.ts";
import { enter, leave, tick } from "./guard.ts";
import { messageOf } from "./messages.ts";
import { signature as signatureFrom, type ParsedSignature, type Signature } from "./signature.ts";

/**
 * Calls. A function is a lambda of an expression, a built-in, or a function that someone bound. Lambdas
 * get the context of the place that calls them as their first argument, for the calls in their last place.
 */
type AnyFunction = (...args: unknown[]) => unknown;

export interface Callable extends AnyFunction {
  kind?: "lambda" | "builtin";
  arity?: number;
  signature?: Signature;
  /** Where the function was called last. */
  position?: number;
}

/** A call in the last place of a lambda. It is made when the lambda has returned, so the stack does not grow. */
class TailCall {
  readonly make: () => unknown;

  constructor(make: () => unknown) {
    this.make = make;
  }
}

/** A `?` among the arguments of a partial application. */
export const HOLE = Symbol("argument to come");

/** What a variable holds before it is set. */
export const UNSET = Symbol("not set");

/** Makes a function of an expression; `run` takes the caller's context and then the arguments. */
export function lambda(run: AnyFunction, arity: number, signature?: ParsedSignature): Callable {
  const own: Callable = run;
  own.kind = "lambda";
  own.arity = arity;
  if (signature) own.signature = signatureFrom(signature);
  return own;
}

export function builtin(run: AnyFunction, arity: number, signature?: Signature): Callable {
  const own: Callable = run;
  own.kind = "builtin";
  own.arity = arity;
  if (signature) own.signature = signature;
  return own;
}

/** How many arguments a function takes. */
export const arityOf = (called: Callable): number => called.arity ?? called.length;

function run(called: Callable, args: readonly unknown[], context: unknown): unknown {
  if (called.kind === "lambda") return called(context, ...args);
  if (called.kind === "builtin") return called(...args);
  const result = called.apply(context, args as unknown[]);
  if (result instanceof Promise) throw new Failure("unknown", 0, "a bound function answers later");
  return result;
}

/** One call, which may answer with the call to make next. What fails is reported where the function was called. */
function applyOnce(called: unknown, args: readonly unknown[], context: unknown): unknown {
  tick();
  if (typeof called !== "function") throw new Failure("T1006");
  const known = called as Callable;
  try {
    return run(known, known.signature ? known.signature.check(args, context) : args, context);
  } catch (thrown) {
    const failure = asFailure(thrown);
    if (known.position) failure.position = known.position;
    throw failure;
  }
}

/** A call to its end. `context` stands in for arguments left out. */
export function apply(called: unknown, args: readonly unknown[], context: unknown): unknown {
  enter();
  let result = applyOnce(called, args, context);
  while (result instanceof TailCall) result = result.make();
  leave();
  return result;
}

/** A function handed on as an argument forgets the context, and so what stands in for missing arguments. */
function handedOn(value: unknown): unknown {
  if (typeof value !== "function") return value;
  const closure: Callable = (...args) => apply(value, args, null);
  closure.arity = arityOf(value as Callable);
  return closure;
}

/** A name that is called as if it were a function: says so when there is one of that name. */
export function forgotten(field: unknown, variable: unknown, code: string, position: number): unknown {
  if (field === undefined && variable) throw new Failure(code, position);
  return field;
}

/** A call as it is written in an expression, at a position of its source. */
export function call(called: unknown, args: unknown[], context: unknown, position: number): unknown {
  for (let index = 0; index < args.length; index += 1)
    if (typeof args[index] === "function") args[index] = handedOn(args[index]);
  return callWith(called, args, context, position);
}

function callWith(called: unknown, args: readonly unknown[], context: unknown, position: number): unknown {
  if (typeof called === "function" && (called as Callable).kind) (called as Callable).position = position;
  try {
    return apply(called, args, context);
  } catch (thrown) {
    const failure = asFailure(thrown);
    failure.position ||= position;
    throw failure;
  }
}

/** `x ~> $f(y)`: the left side comes first among the arguments, and functions on the left stay what they are. */
export function callPiped(
  called: unknown,
  first: unknown,
  rest: unknown[],
  context: unknown,
  position: number,
): unknown {
  return callWith(called, [first, ...rest.map(handedOn)], context, position);
}

/** A call in the last place of a lambda. JSONata gives no code to calling nothing there. */
export function tailCall(
  called: unknown,
  args: readonly unknown[],
  context: unknown,
  position: number,
): unknown {
  if (typeof called !== "function") throw new Failure("unknown", 0, messageOf("T1006"));
  const known: Callable = called as Callable;
  if (known.kind) known.position = position;
  try {
    return applyOnce(known, args, context);
  } catch (thrown) {
    const failure = asFailure(thrown);
    failure.position = known.position ?? position;
    throw failure;
  }
}

export const later = (make: () => unknown): TailCall => new TailCall(make);

/** `x ~> f`, and `f ~> g`, which is the function that does both. */
export function pipe(left: unknown, right: unknown, position: number): unknown {
  if (typeof right !== "function") throw new Failure("T2006", position);
  if (typeof left !== "function") return apply(right, [left], null);
  return lambda((context, value) => later(() => applyOnce(right, [apply(left, [value], null)], context)), 1);
}

/** `f(x, ?)`: the function of the arguments that are still to come. */
export function partial(called: unknown, args: readonly unknown[], position: number): unknown {
  if (typeof called !== "function") throw new Failure("T1008", position);
  const known = called as Callable;
  const given = Array.from({ length: arityOf(known) }, (_, index) => args[index]);
  const filled = (rest: readonly unknown[]): unknown[] => {
    let next = 0;
    return given.map((argument) => (argument === HOLE ? rest[next++] : argument));
  };
  const open = given.filter((argument) => argument === HOLE).length;
  return lambda((context, ...rest) => {
    // The types of a function's signature are not asked for here, by JSONata's own rule.
    if (known.kind === "lambda") return known(context, ...filled(rest));
    return known.apply(null, filled(rest));
  }, open);
}
