import type { FrontName } from "./fronts.ts";
import type { ScriptResult } from "./run-script.ts";
import type { Dialect, Script } from "./script.ts";

export type TargetName = "gateway" | FrontName;

/** The results of one script at the gateway and behind each proxy. */
export interface Row {
  readonly script: Script;
  readonly seen: Partial<Record<TargetName, Readonly<Record<Dialect, ScriptResult>>>>;
}

/** Statuses in their order, then whether the connection was ended. */
const words = ({ statuses, closes }: ScriptResult): string =>
  [statuses.join(" ") || "no response", ...(closes ? ["ended"] : [])].join(", ");

function cell(seen: Row["seen"][TargetName]): string {
  if (!seen) return "not run";
  const [alpha, native] = [words(seen.alpha), words(seen.native)];
  return alpha === native ? alpha : `${alpha} / ${native}`;
}

function v4Cell({ gateway }: Row["seen"]): string {
  if (!gateway) return "not run";
  const of = ({ labels }: ScriptResult): string => labels.join(", ") || "nothing";
  const [alpha, native] = [of(gateway.alpha), of(gateway.native)];
  return alpha === native ? alpha : `${alpha} / ${native}`;
}

function safe({ seen }: Row): string {
  const all = Object.values(seen).flatMap(({ alpha, native }) => [alpha, native]);
  return all.every(({ othersSafe, ambiguous, astray }) => othersSafe && !ambiguous.length && !astray.length)
    ? "yes"
    : "no";
}

/** The results of each input, separated by tabs. */
export const table = (rows: readonly Row[]): string =>
  [
    ["about", "input", "gateway", "v4 responded", "behind nginx", "behind haproxy", "others safe"],
    ...rows.map((row) => {
      const { script, seen } = row;
      const cells = [cell(seen.gateway), v4Cell(seen), cell(seen.nginx), cell(seen.haproxy), safe(row)];
      return [script.about, script.name, ...cells];
    }),
  ]
    .map((cells) => `${cells.join("\t")}\n`)
    .join("");

/** What the table says in all, in Markdown. */
export function page(rows: readonly Row[], versions: readonly string[]): string {
  const abouts = new Set(rows.map(({ script }) => script.about));
  const harmful = rows.filter((row) => safe(row) !== "yes");
  return [
    "# Hostile input",
    "",
    `Written by \`npm run hostile:page\`; the inputs are in \`test/system/hostile/scripts\`. Run on ${new Date().toISOString().slice(0, 10)} with ${versions.join(", ")}.`,
    "",
    `${rows.length} inputs of ${abouts.size} kinds, each sent in both lanes to the gateway, through nginx and through haproxy. ${harmful.length} of them harm`,
    "other clients. [inputs.tsv](inputs.tsv) has a row for each.",
    "",
    "A cell lists the statuses that the client got, and whether the connection was ended: before the slash in the alpha pipeline,",
    "after it in the native proxy. *v4 responded*: the tokens of the requests that v4 answered. *Others safe*: three other clients",
    "got their own responses afterwards, and v4 received no head that can be read in two ways.",
    "",
  ].join("\n");
}
