/** The questions that a script asks, out of its comments: `# <UDF name="DOMAIN" label="Domain" default="">`. */

import type { ScriptQuestion } from "./shapes.ts";

/** A script of allowed length can't hold more than this in earnest. */
const mostQuestions = 100;

export function questionsOf(script: string): ScriptQuestion[] {
  const tags = script.split("\n").flatMap((line) => /^\s*#\s*<UDF\s([^>]*)>/i.exec(line)?.[1] ?? []);
  return tags.slice(0, mostQuestions).flatMap((tag) => {
    const said = new Map(
      [...tag.matchAll(/(?<!\w)(\w+)\s*=\s*"([^"]*)"/g)].map(([, key = "", value = ""]) => [
        key.toLowerCase(),
        value,
      ]),
    );
    const name = said.get("name");
    if (name === undefined) return [];
    const question: ScriptQuestion = { label: said.get("label") ?? name, name };
    for (const key of ["example", "default", "oneof", "manyof"] as const) {
      const value = said.get(key);
      if (value !== undefined) question[key] = value;
    }
    return [question];
  });
}
