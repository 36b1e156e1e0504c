/** The source of an expression: it is rejected, or compiles to an expression that ends with a value or an error. */
import { compile, ExpressionError } from "../../src/jsonata/index.ts";
import { DOCUMENT, expressions } from "../expressions.ts";
import { hold, type Target } from "../target.ts";

export const target: Target = {
  ...expressions,
  name: "expression",
  subject: "The source of an expression, compiled",
  run(input) {
    try {
      const expression = compile(input);
      if (expression.engine === "compiled") expression.evaluate(DOCUMENT, {});
    } catch (error) {
      hold("what fails, fails with its own error", error instanceof ExpressionError);
    }
  },
};
