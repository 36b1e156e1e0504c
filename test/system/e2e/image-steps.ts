/**
 * Carries out a Dockerfile without an engine: each stage is a clean folder in place of a root file system, `COPY` is a
 * copy, `RUN` a shell there. What the base image has (Node, a user called `node`) is this machine's, or left out.
 */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { environmentOf, type Stage } from "../../support/dockerfile.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";

const execute = promisify(execFile);

/** Names that `.dockerignore`, which keeps out everything else, lets into the build. */
export const buildContext = (ignore: string): Set<string> =>
  new Set([...ignore.matchAll(/^!(.+)$/gm)].map(([, name = ""]) => name));

/** Only the image has the user to give files to. */
function withoutOwners(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "chown"), "#!/bin/sh\n");
  chmodSync(join(folder, "chown"), 0o755);
  return folder;
}

/** npm's packages are those that `npm ci` of this repository fetched, where they are still kept. */
const npmEnvironment = (): Record<string, string> => ({
  HOME: process.env["HOME"] ?? "",
  npm_config_prefer_offline: "true",
  npm_config_update_notifier: "false",
});

/** Runs the stages in turn. @returns the folder that stands for the root of the last one */
export async function runStages(stages: readonly Stage[], context: string): Promise<string> {
  const roots = new Map<string, string>();
  const allowed = buildContext(readFileSync(join(context, ".dockerignore"), "utf8"));
  const path = [withoutOwners(), process.env["PATH"]].join(delimiter);
  let root = "";
  for (const stage of stages) {
    root = temporaryFolder();
    roots.set(stage.name, root);
    await runStage(stage, { root, roots, context, allowed, path });
  }
  return root;
}

interface Ground {
  readonly root: string;
  readonly roots: ReadonlyMap<string, string>;
  readonly context: string;
  readonly allowed: ReadonlySet<string>;
  readonly path: string;
}

async function runStage(stage: Stage, { root, roots, context, allowed, path }: Ground): Promise<void> {
  const env = { PATH: path, ...npmEnvironment(), ...environmentOf(stage) };
  let place = root;
  for (const { keyword, rest } of stage.instructions) {
    if (keyword === "WORKDIR") {
      place = join(root, rest);
      mkdirSync(place, { recursive: true });
    }
    if (keyword === "RUN") {
      const command = rest.replaceAll(/(?<=\s)\/(?=\w)/g, `${root}/`);
      await execute("sh", ["-ec", command], { cwd: place, env });
    }
    if (keyword !== "COPY") continue;
    const words = rest.split(/ +/);
    const from = words.find((word) => word.startsWith("--from="))?.slice("--from=".length);
    const names = words.filter((word) => !word.startsWith("--"));
    const to = names.pop() ?? "";
    const target = isAbsolute(to) ? join(root, to) : join(place, to);
    for (const name of names) {
      if (from === undefined && !allowed.has(name)) throw new Error(`${name} is not in the build context`);
      const source = join(from === undefined ? context : (roots.get(from) ?? ""), name);
      const intoFolder = names.length > 1 || to.endsWith("/");
      cpSync(source, intoFolder ? join(target, basename(name)) : target, {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
  }
}
