import { createMemberTable } from "../../dialect/json/scan.ts";
import type { CodeBuilder } from "./code-builder.ts";
import type { MemberNode } from "./member-plan.ts";

/** Writes the code that goes over a v4 object once and keeps where what is wanted begins and ends. */

/** Ends of everything below a place: an object that comes twice leaves nothing of the first. */
const endsBelow = ({ members }: MemberNode): string[] =>
  [...members.values()].flatMap((place) => [...(place.range ? [place.range.end] : []), ...endsBelow(place)]);

function emitValue(place: MemberNode, level: number, source: CodeBuilder): string {
  const { range, members } = place;
  const skip = `at = endOfValue(bytes, at, depth - ${level});`;
  const begin = range ? `${range.start} = at;` : "";
  const end = range ? `${range.end} = at;` : "";
  if (members.size === 0) return `${begin} ${skip} ${end}`;
  const ends = endsBelow(place);
  const reset = ends.length > 0 ? `${ends.join(" = ")} = 0;` : "";
  return `${reset}\n${begin}\nif (bytes[at] === 123) {\n${emitMembers(place, level, source)}\n} else ${skip}\n${end}`;
}

/** Goes over the members of the object that begins at `at`, `level` objects deep. */
export function emitMembers({ members }: MemberNode, level: number, source: CodeBuilder): string {
  const known = source.constant(createMemberTable(members.keys()));
  const [index, name] = [source.name("index"), source.name("name")];
  const cases = [...members.values()].map(
    (place, number) => `case ${number}: {\n${emitValue(place, level + 1, source)}\nbreak;\n}`,
  );
  return `
at = skipWhitespace(bytes, at + 1);
if (bytes[at] === 125) at += 1;
else for (let ${index} = 0; ; ${index} += 1) {
const ${name} = nameAt(bytes, at, ${known}, ${index});
at += ${name}.bytes.length;
if (bytes[at] <= 32) at = skipWhitespace(bytes, at);
switch (${name}.number) {
${cases.join("\n")}
default: at = endOfValue(bytes, at, depth - ${level + 1});
}
code = bytes[at];
if (code <= 32) code = bytes[(at = skipWhitespace(bytes, at))];
at += 1;
if (code === 125) break;
if (code !== 44) notJson();
if (bytes[at] <= 32) at = skipWhitespace(bytes, at);
}`.trim();
}
