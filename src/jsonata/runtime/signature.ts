import jsonata from "jsonata";

/** What a function takes, in JSONata's notation: `<s-nn?:s>`. */
export interface Signature {
  /**
   * The arguments as the function wants them: a single value where it takes an array becomes one, the context
   * stands in for an argument left out.
   *
   * @throws T0410, T0411, T0412, as plain objects.
   */
  readonly check: (args: readonly unknown[], context: unknown) => readonly unknown[];
}

/** The part of JSONata's own signature that a syntax tree carries. */
export interface ParsedSignature {
  readonly definition: string;
  readonly validate: (args: readonly unknown[], context: unknown) => readonly unknown[];
}

interface Parameter {
  readonly types: string;
  readonly members: string | undefined;
  readonly optional: boolean;
}

/** `s`, `(sf)`, `a<n>`, each with its `-`, `?` or `+`. */
const PARAMETER = /(\w|\(\w+\))(?:<([^>]*)>)?([-?+]*)/g;

const ANY = "asnblo";

function parameters(definition: string): Parameter[] {
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

function fits({ types, members }: Parameter, value: unknown): boolean {
  const type = typeOf(value);
  if (!types.includes(type)) return false;
  if (type !== "a" || members === undefined) return true;
  return (value as unknown[]).every((member) => typeOf(member) === members);
}

/** Whether every argument stands in its own place with its own type, so that there is nothing to do. */
function fitAsTheyAre(expected: readonly Parameter[], args: readonly unknown[]): boolean {
  for (let index = 0; index < expected.length; index += 1) {
    const parameter = expected[index] as Parameter;
    if (index >= args.length ? !parameter.optional : !fits(parameter, args[index])) return false;
  }
  return args.length <= expected.length;
}

/** The signature that a syntax tree carries: everyday calls pass at once, JSONata's own check knows the rest. */
export function signature({ definition, validate }: ParsedSignature): Signature {
  const expected = parameters(definition);
  return {
    check: (args, context) => (fitAsTheyAre(expected, args) ? args : validate(args, context)),
  };
}

/** The signature of a built-in function. It is parsed when it is first needed. */
export function signatureOf(definition: string): Signature {
  const expected = parameters(definition);
  let validate: ParsedSignature["validate"] | undefined;
  return {
    check(args, context) {
      if (fitAsTheyAre(expected, args)) return args;
      validate ??= parsed(definition).validate;
      return validate(args, context);
    },
  };
}

function parsed(definition: string): ParsedSignature {
  const tree: unknown = jsonata(`function()${definition}{0}`).ast();
  return (tree as { readonly signature: ParsedSignature }).signature;
}
