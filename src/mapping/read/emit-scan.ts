import { membersOf } from "../../dialect/json-text.ts";
import type { Source } from "./source.ts";
import type { Wanted } from "./wanted.ts";

/** Writes the code that goes over a v4 object's text once and keeps the text of what stands at the wanted places. */

/** Variables of everything below a place: an object that comes twice leaves nothing of the first. */
const below = ({ members }: Wanted): string[] =>
  [...members.values()].flatMap((place) => [
    ...(place.variable === undefined ? [] : [place.variable]),
    ...below(place),
  ]);

function emitValue(place: Wanted, level: number, source: Source): string {
  const { variable, members } = place;
  const skipped = `at = endOfValue(text, at, depth - ${level});`;
  if (members.size === 0)
    return `end = endOfValue(text, at, depth - ${level}); ${variable} = textBetween(text, at, end); at = end;`;
  const inner = below(place);
  const reset = inner.length > 0 ? `${inner.join(" = ")} = undefined;` : "";
  const read = `if (text.charCodeAt(at) === 123) {\n${emitMembers(place, level, source)}\n} else ${skipped}`;
  if (variable === undefined) return `${reset}\n${read}`;
  const start = source.name("start");
  return `${reset}\nconst ${start} = at;\n${read}\n${variable} = textBetween(text, ${start}, at);`;
}

/** Goes over the members of the object that begins at `at`, `level` objects deep. */
export function emitMembers({ members }: Wanted, level: number, source: Source): string {
  const known = source.constant(membersOf(members.keys()));
  const [index, name] = [source.name("index"), source.name("name")];
  const cases = [...members.values()].map(
    (place, number) => `case ${number}: {\n${emitValue(place, level + 1, source)}\nbreak;\n}`,
  );
  return `
at = behindSpace(text, at + 1);
if (text.charCodeAt(at) === 125) at += 1;
else for (let ${index} = 0; ; ${index} += 1) {
const ${name} = nameAt(text, at, ${known}, ${index});
at += ${name}.text.length;
if (text.charCodeAt(at) <= 32) at = behindSpace(text, at);
switch (${name}.number) {
${cases.join("\n")}
default: at = endOfValue(text, at, depth - ${level + 1});
}
code = text.charCodeAt(at);
if (code <= 32) code = text.charCodeAt((at = behindSpace(text, at)));
at += 1;
if (code === 125) break;
if (code !== 44) notJson();
if (text.charCodeAt(at) <= 32) at = behindSpace(text, at);
}`.trim();
}
