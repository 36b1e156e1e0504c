import type {
  DialectDefinition,
  ValueKindDefinition,
  ValueTable,
  WrittenDialect,
} from "../schema/pack-definition.ts";
import { type Diagnostic, withCode, type YamlPath, type YamlSource } from "../../base/index.ts";

/**
 * Gives the value tables of a pack the keys that they have in YAML, numbers and booleans too: an object has only texts.
 *
 * @param diagnostics Gets those of keys that no value is equal to.
 */
export function readTables(
  definition: WrittenDialect,
  source: YamlSource,
  diagnostics: Diagnostic[],
): DialectDefinition {
  function readTable(path: YamlPath, side: Readonly<Record<string, unknown>>): ValueTable {
    const report = (key: string, message: string): void =>
      void diagnostics.push(source.keyDiagnosticAt([...path, key], withCode(message, "invalid-value")));
    const keys = new Map([...(source.mapAt(path)?.keys() ?? [])].map((key) => [String(key ?? ""), key]));
    return Object.entries(side).map(([text, value]) => {
      const key = keys.get(text);
      if (key === null) report(text, 'null is not translated: use "default" of the field');
      if (typeof key !== "number" && typeof key !== "boolean") return [text, value];
      if (typeof key === "number" && !(Math.abs(key) <= Number.MAX_SAFE_INTEGER))
        report(text, "this number can't be compared exactly");
      return [key, value];
    });
  }
  const values = Object.entries(definition.values).map(([name, { read, write, ...kind }]) => {
    const sides = Object.entries({ read, write }).flatMap(([side, written]) =>
      written === undefined
        ? []
        : [[side, typeof written === "object" ? readTable(["values", name, side], written) : written]],
    );
    return [name, { ...kind, ...Object.fromEntries(sides) }] as [string, ValueKindDefinition];
  });
  return { ...definition, values: Object.fromEntries(values) };
}
