/** No engine is needed: these are the promises of the image that can be read off its recipe. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { readSettings } from "../../src/settings/read.ts";
import { newFolder, removeFolders } from "./folder.ts";
import { endAll, REPOSITORY, run, serve, type Ended } from "./program.ts";

afterEach(async () => {
  await endAll();
  removeFolders();
});

const read = (name: string): string => readFileSync(join(REPOSITORY, name), "utf8");

/** Instructions of the last stage, continued lines joined and comments left out. */
function imageOf(text: string): string[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter(Boolean);
  return lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
}

const image = imageOf(read("Dockerfile"));

const instruction = (name: string): string =>
  image.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? "";

const environment = Object.fromEntries(
  instruction("ENV")
    .split(/ +/)
    .map((pair) => pair.split("=", 2)),
) as Record<string, string>;

describe("the image", () => {
  test("starts the program itself, as somebody who is not root", () => {
    expect(JSON.parse(instruction("CMD"))).toEqual(["node", "dist/main.js", "serve"]);
    expect(instruction("USER")).toBe("node");
  });

  test("takes nothing from development: modules come from the stage that pruned them", () => {
    expect(image.filter((line) => /\bnpm\b/.test(line))).toEqual([]);
    expect(image).toContain("COPY --from=build /app/node_modules node_modules");
    expect(read("Dockerfile")).toMatch(/npm prune --omit=dev\n/);
  });

  test("has settings that the gateway takes, listens to the outside, and keeps the admin listener in", () => {
    const settings = readSettings([], environment);

    expect(settings).toMatchObject({ HOST: "0.0.0.0", ADMIN_HOST: "127.0.0.1" });
    expect(instruction("EXPOSE").split(" ").map(Number)).toEqual([settings.PORT, settings.ADMIN_PORT]);
    expect(instruction("VOLUME")).toBe(settings.DATA_DIR);
  });

  test("is healthy while the gateway lives, and not after", async () => {
    const [node, flag = "", program = ""] = JSON.parse(
      instruction("HEALTHCHECK").replace(/^.*? CMD /, ""),
    ) as string[];
    expect(node).toBe("node");
    const gateway = await serve(newFolder());
    const ask = (): Promise<Ended> =>
      run([], { script: [flag, program], env: { ADMIN_PORT: new URL(gateway.admin).port } }).ended;

    expect(await ask()).toMatchObject({ code: 0, err: "" });
    gateway.signal("SIGTERM");
    await gateway.ended;
    expect(await ask()).toMatchObject({ code: 1, err: "" });
  });

  test("copies nothing that .dockerignore keeps out", () => {
    const kept = read(".dockerignore").matchAll(/^!(.+)$/gm);
    const names = new Set([...kept].map(([, name]) => name));
    const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = ""]) =>
      from.split(" "),
    );

    expect(copied.filter((name) => !names.has(name))).toEqual([]);
  });
});

interface Composed {
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

describe("compose.yaml", () => {
  let services: Readonly<Record<string, Composed>>;

  beforeAll(() => {
    ({ services } = parse(read("compose.yaml")) as { services: Record<string, Composed> });
  });

  test("gives the gateway settings that it takes, and takes the admin token from outside", () => {
    const { ADMIN_TOKEN, ...given } = services["gateway"]?.environment ?? {};

    expect(ADMIN_TOKEN).toMatch(/^\$\{ADMIN_TOKEN:\?/);
    expect(readSettings([], { ...environment, ...given, ADMIN_TOKEN: "secret" })).toMatchObject({
      UPSTREAM_URL: new URL("http://sandbox:8090"),
      ADMIN_HOST: "0.0.0.0",
    });
  });

  test("runs the sandbox where the gateway looks for it", () => {
    expect(services["sandbox"]?.command.join(" ")).toBe(
      "node dist/main.js sandbox --host 0.0.0.0 --port 8090",
    );
  });
});
