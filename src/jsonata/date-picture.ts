import { walk, type Node } from "./ast.ts";
import type { ExpressionProblem } from "./check.ts";

/**
 * Pictures of `$toMillis`: JSONata makes a regular expression of each, which takes a time beyond all bounds where two
 * parts could share characters. So a picture must be written out, and where a part ends must be certain.
 */

/** A part of a picture, `[Y0001]`, and the text behind it. */
const PART = /\[\s*([A-Za-z])([^\],]*)[^\]]*\]([^[]*)/g;

/** Parts that are numbers: of a known width where another one follows at once, and the picture has a digit for it. */
const NUMBERED = "YMDdHhmsWwXx";

/** What is wrong with a picture; undefined for nothing. */
function pictureFault(picture: string): string | undefined {
  const parts = [...picture.matchAll(PART)];
  for (const [index, [, component = "", written = "", behind = ""]] of parts.entries()) {
    const modifier = written.trim();
    const isName =
      component === "F" || component === "P" ? !/^\d/.test(modifier) : /^[AaIiNn]/.test(modifier);
    if (/^[Ww]/.test(modifier)) return "$toMillis can't read numbers in words here";
    if (behind === "" && index < parts.length - 1) {
      const next = parts[index + 1]?.[1] ?? "";
      // A time zone begins with a sign, or with GMT.
      if (next === "Z" || (next === "z" && !isName)) continue;
      const isNumber = !isName && NUMBERED.includes(component) && (modifier === "" || /\d/.test(modifier));
      if (isNumber && NUMBERED.includes(next)) continue;
      return `it is not certain where [${component}${modifier}] ends: write a character behind it`;
    }
    if ((isName ? /^[A-Za-z]/ : /^\d/).test(behind))
      return `it is not certain where [${component}${modifier}] ends: another character must stand behind it`;
  }
  return undefined;
}

/** What is wrong with the pictures of an expression. */
export function pictureFaults(ast: Node): ExpressionProblem[] {
  const faults: ExpressionProblem[] = [];
  const called = new Set<unknown>();
  const piped = new Set<unknown>();
  walk(ast, (node) => {
    if (node.type === "apply" && (node["rhs"] as Node).type === "function") piped.add(node["rhs"]);
    const { type, value, position = 1 } = node;
    const offset = Math.max(0, position - 1);
    if (type === "function" && (node["procedure"] as Node).value === "toMillis") {
      called.add(node["procedure"]);
      const [picture] = (node["arguments"] as readonly Node[]).slice(piped.has(node) ? 0 : 1);
      if (picture === undefined) return;
      const message =
        picture.type === "string"
          ? pictureFault(String(picture.value))
          : "the picture of $toMillis must be written out as a text";
      if (message !== undefined) faults.push({ message, offset });
    }
    if (type === "variable" && value === "toMillis" && !called.has(node))
      faults.push({ message: "$toMillis can only be called, and not be handed on", offset });
  });
  return faults;
}
