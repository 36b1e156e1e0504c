/** Emits the code that creates the input of an expression: only the members of the v4 object that the expression reads. */
import type { Expression, InputNames } from "../../jsonata/index.ts";
import { emitIsObject } from "./emit-tests.ts";
import type { ByteRange } from "./member-scan.ts";
import type { ReaderUnit } from "./generate-reader.ts";

/** Emits the test whether there are no values of calls, as for rows of a list. */
export function emitNoCalls({ tests }: ReaderUnit): string {
  tests.set("!calls", { variable: "hasNoCalls", js: "isEmpty(reading.calls)" });
  return "hasNoCalls";
}

/** Emits the value of a range. */
export const emitValueAt = ({ start, end }: ByteRange): string => `parseAt(cursor, ${start}, ${end})`;

/** Emits the input of an expression: an object with only the members that the expression reads. */
export const emitInput = ({ inputNames }: Expression, { scanned }: ReaderUnit): string =>
  inputNames === "all" ? "parseAt(cursor, start, at)" : emitMembersRead(inputNames, [], scanned);

function emitMembersRead(
  inputNames: Exclude<InputNames, "all">,
  parents: readonly string[],
  scanned: ReaderUnit["scanned"],
): string {
  const members = [...inputNames].map(
    ([name, inner]) => `${JSON.stringify(name)}: ${emitMemberRead(inner, [...parents, name], scanned)}`,
  );
  return `{ ${members.join(", ")} }`;
}

/** Emits the value of a member. Only the needed members of an object are read. An array is parsed as a whole. */
function emitMemberRead(reads: InputNames, path: readonly string[], scanned: ReaderUnit["scanned"]): string {
  const range = scanned.range(path);
  if (reads === "all") return emitValueAt(range);
  const members = emitMembersRead(reads, path, scanned);
  return `(${emitIsObject(range)} ? ${members} : ${emitValueAt(range)})`;
}

/** Returns the path of the member if only one is read. */
export function onlyPath(reads: InputNames, parents: readonly string[] = []): readonly string[] | undefined {
  if (reads === "all") return parents.length > 0 ? parents : undefined;
  const [[name, inner] = ["", reads] as const, ...others] = reads;
  return name === "" || others.length > 0 ? undefined : onlyPath(inner, [...parents, name]);
}
