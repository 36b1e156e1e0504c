/**
 * Validates arguments and returns them as the function expects them: a single value becomes an array if the function
 * expects an array, and the context replaces a missing argument.
 *
 * @throws Plain objects with the codes T0410, T0411 or T0412, as `jsonata` does.
 */
export type CheckArguments = (args: readonly unknown[], context: unknown) => readonly unknown[];

/** A signature in the package, in JSONata's notation: `<s-nn?:s>`. */
export interface ParsedSignature {
  readonly definition: string;
  readonly validate: CheckArguments;
}

interface Parameter {
  readonly types: string;
  readonly members: string | undefined;
  readonly optional: boolean;
}

/** Matches a parameter, `s`, `(sf)` or `a<n>`, with its suffix `-`, `?` or `+`. */
const PARAMETER = /(\w|\(\w+\))(?:<([^>]*)>)?([-?+]*)/g;

const ANY = "asnblo";

function parseParameters(definition: string): Parameter[] {
  const taken = definition.slice(1, -1).split(":")[0] ?? "";
  return [...taken.matchAll(PARAMETER)].map(([, types = "", members, modifiers = ""]) => ({
    types: types.replace("x", `${ANY}f`).replace("j", ANY),
    members,
    optional: modifiers === "?",
  }));
}

const NAMES: Readonly<Record<string, string>> = { string: "s", number: "n", boolean: "b", function: "f" };

function typeOf(value: unknown): string {
  if (typeof value === "object") return value === null ? "l" : Array.isArray(value) ? "a" : "o";
  return NAMES[typeof value] ?? "m";
}

function matchesType({ types, members }: Parameter, value: unknown): boolean {
  const type = typeOf(value);
  if (!types.includes(type)) return false;
  if (type !== "a" || members === undefined) return true;
  return (value as unknown[]).every((member) => typeOf(member) === members);
}

/** Whether all arguments are in order and have the expected types, so that no argument has to be changed. */
function matchInOrder(expected: readonly Parameter[], args: readonly unknown[]): boolean {
  for (let index = 0; index < expected.length; index += 1) {
    const parameter = expected[index] as Parameter;
    if (index >= args.length ? !parameter.optional : !matchesType(parameter, args[index])) return false;
  }
  return args.length <= expected.length;
}

/** Creates the check of a signature. Most calls pass a quick check; JSONata's own validation handles the rest. */
export function createCheck({ definition, validate }: ParsedSignature): CheckArguments {
  const expected = parseParameters(definition);
  return (args, context) => (matchInOrder(expected, args) ? args : validate(args, context));
}
