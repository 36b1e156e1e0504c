/** Functions of `pack.yaml`, which expressions of all files call by their names. */
import { check } from "../../jsonata/index.ts";
import type { SourceLocation } from "../../base/index.ts";

/**
 * Reports definitions that are not functions, names of JSONata's functions, and names of variables. @param variables
 * the variables of requests
 */
export function checkFunctions(
  functions: Readonly<Record<string, string>>,
  variables: readonly string[],
  location: SourceLocation,
): void {
  if (location.isChecked) return;
  const names = new Set(Object.keys(functions));
  for (const [name, source] of Object.entries(functions)) {
    const at = location.at(name);
    if (!/^\s*(?:function|λ)\s*\(/.test(source))
      at.report({ message: "must be a function", hint: 'function($text) { $text & "!" }' });
    if (check(`$${name}()`, new Set()).length === 0) at.reportKey(`JSONata has a function $${name} already`);
    if (variables.includes(name))
      at.reportKey(`$${name} is a variable of requests, which the function would hide`);
    for (const { message, offset } of check(source, names))
      at.report({ message, code: "invalid-expression" }, offset);
  }
}

/** Returns the functions that a source calls, directly and indirectly. Each comes after the functions that it calls. */
function functionsIn(
  source: string,
  functions: ReadonlyMap<string, string>,
  around: readonly string[] = [],
): string[] {
  const found = [...functions].filter(
    ([name]) => !around.includes(name) && new RegExp(String.raw`\$${name}(?!\w)`).test(source),
  );
  return [
    ...new Set(found.flatMap(([name, text]) => [...functionsIn(text, functions, [...around, name]), name])),
  ];
}

/** Returns an expression, preceded by the functions that it calls. */
export function withFunctions(source: string, functions: ReadonlyMap<string, string>): string {
  const names = functions.size === 0 || !source.includes("$") ? [] : functionsIn(source, functions);
  if (names.length === 0) return source;
  return `(${names.map((name) => `$${name} := ${functions.get(name)}; `).join("")}${source})`;
}
