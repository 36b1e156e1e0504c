/**
 * The source of an expression, as it serves requests and traced: the same value, text and error comes out. Each run evaluates
 * one source with 20 new inputs. Sources that don't compile, or that read the time, are left out: the result says how many pairs
 * were compared.
 */
import { toJsonText } from "../../src/base/json/text.ts";
import { collectExpressions, compile, ExpressionError, type Expression } from "../../src/jsonata/index.ts";
import { compileTraced } from "../../src/jsonata/trace/traced-expression.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import { DOCUMENT, expressions } from "../expressions.ts";
import { writeOdd } from "../odd-json.ts";
import { random } from "../random.ts";
import { hold, type Target } from "../target.ts";

/** An object with names of the shipped pack, too. */
const OBJECT = { ...DOCUMENT, id: 7, status: "running", label: "one", tags: ["x"], region: "us-east" };

const chance = random(1);
/** An input with members in another order, missing or repeated, and with other values. */
const createInput = (): unknown => JSON.parse(writeOdd(OBJECT, chance));
const INPUTS_PER_SOURCE = 20;

const BINDINGS = {
  values: (kind: string, value: unknown) => (value === "running" ? kind : undefined),
  value: "V",
  related: { a: { b: 1 } },
};

/** What comes out, without the sources of chance and time. */
const byChance = (source: string): boolean => /\$(?:millis|now|random|shuffle|eval)/.test(source);

function outcome(expression: Expression, input: unknown): string {
  try {
    const text = toJsonText(expression.evaluate(input, BINDINGS));
    return JSON.stringify([text, expression.print(input, BINDINGS)]);
  } catch (error) {
    hold("what fails, fails with its own error", error instanceof ExpressionError);
    const { jsonataCode, message, offset } = error as ExpressionError;
    return JSON.stringify([jsonataCode, message, offset]);
  }
}

function compiledOf(source: string): Expression | undefined {
  try {
    const expression = compile(source);
    return expression.engine !== "compiled" || byChance(source) ? undefined : expression;
  } catch {
    return undefined;
  }
}

const packSources = collectExpressions(() => loadPack("mappings")).expressions.map(({ source }) => source);

export const target: Target = {
  ...expressions,
  seeds: [...new Set([...expressions.seeds, ...packSources.filter(({ length }) => length <= 400)])],
  name: "trace",
  subject:
    "The source of an expression, with 20 inputs, as it serves requests and traced: the same comes out",
  run(source) {
    const plain = compiledOf(source);
    if (!plain) return 0;
    const tracing = { isSecret: (name: string) => name === "d", onEvaluation: () => undefined };
    const traced = compileTraced(source, { bound: undefined, origin: undefined }, tracing);
    for (let index = 0; index < INPUTS_PER_SOURCE; index += 1) {
      const input = createInput();
      hold("traced gives what untraced gives", outcome(plain, input) === outcome(traced, input));
    }
    return INPUTS_PER_SOURCE;
  },
};
