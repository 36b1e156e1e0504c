import { checkText } from "../guard.ts";
import { printText } from "../values.ts";

/** `$string`: prints a value. @param pretty Whether to indent it. */
export const string = (value: unknown, pretty?: boolean): string | undefined =>
  value === undefined ? undefined : printText(value, pretty);

/** `$join`: joins strings with a separator. */
export function join(values?: readonly string[], separator = ""): string | undefined {
  if (values === undefined) return undefined;
  const separators = separator.length * Math.max(0, values.length - 1);
  checkText(
    values.reduce((length, value) => length + value.length, separators),
    "$join",
  );
  return values.join(separator);
}
