/** The image without an engine: each of its steps is carried out in a clean folder. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { readEnvironment } from "../../../src/base/settings/settings.ts";
import { environmentOf, parseDockerfile } from "../../support/dockerfile.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { runStages } from "./image-steps.ts";
import { REPOSITORY, run, serve, type Ended } from "./program.ts";

const recipe = readFileSync(join(REPOSITORY, "Dockerfile"), "utf8");
const stages = parseDockerfile(recipe);
const image = stages.at(-1) ?? { name: "", image: "", instructions: [] };
const environment = environmentOf(image);

const instruction = (name: string): string =>
  image.instructions.find(({ keyword }) => keyword === name)?.rest ?? "";

describe("the Dockerfile", () => {
  test("runs as no root, is checked for its health, and has pinned parts and no secrets", () => {
    expect(instruction("USER")).toBe("node");
    expect(instruction("HEALTHCHECK")).not.toBe("");
    expect(JSON.parse(instruction("CMD"))).toEqual(["node", "dist/main.js", "serve"]);
    const names = new Set(stages.map(({ name }) => name));
    for (const stage of stages.filter((each) => !names.has(each.image)))
      expect(stage.image).toMatch(/:(?!latest\b)[\w.-]+$/);
    expect(recipe).not.toMatch(/^ADD |npm i(?:nstall)?\b|apt(?:-get)? install|(?:TOKEN|SECRET|PASSWORD)=/m);
  });

  test("never serves the sandbox by default: the start is rejected with a message", async () => {
    const { code, out, err } = await run(["serve"], { env: { ...environment, DATA_DIR: temporaryFolder() } })
      .ended;
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err.trimEnd().split("\n")).toEqual([
      "AG_SETTINGS_INVALID: These settings are invalid:",
      expect.stringMatching(/UPSTREAM_URL: it is required; .* set SANDBOX to true/),
    ]);
  });

  test("has valid settings, listens publicly, and keeps the admin listener internal", () => {
    const settings = readEnvironment({ ...environment, UPSTREAM_URL: "https://api.example.com" });

    expect(settings).toMatchObject({ HOST: "0.0.0.0", ADMIN_HOST: "127.0.0.1" });
    expect(instruction("EXPOSE").split(" ").map(Number)).toEqual([settings.PORT, settings.ADMIN_PORT]);
    expect(instruction("VOLUME")).toBe(settings.DATA_DIR);
  });
});

/** Every file under a folder, with its time. */
const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map(
    (name) => `${name} ${statSync(join(folder, name)).mtimeMs}`,
  );

describe("the steps of the Dockerfile, each in a clean folder", () => {
  let root: string;
  beforeAll(async () => {
    root = await runStages(stages, REPOSITORY);
  }, 400_000);

  test("produce the program without development files or packages", () => {
    expect(readdirSync(join(root, "app")).sort()).toEqual(
      ["LICENSE", "dist", "mappings", "node_modules", "package.json", "sbom.cdx.json"].sort(),
    );
    const packages = readdirSync(join(root, "app", "node_modules"));
    expect(packages).toEqual(expect.arrayContaining(["express", "undici", "jsonata"]));
    expect(packages.filter((name) => ["typescript", "jest", "node"].includes(name))).toEqual([]);
  });

  test("produce a list of all packages of the image in CycloneDX, each with its licence", () => {
    interface Component {
      readonly name: string;
      readonly version: string;
      readonly licenses: readonly unknown[];
    }
    const { bomFormat, components } = JSON.parse(
      readFileSync(join(root, "app", "sbom.cdx.json"), "utf8"),
    ) as {
      bomFormat: string;
      components: readonly Component[];
    };
    const lock = JSON.parse(
      readFileSync(join(root, "app", "node_modules", ".package-lock.json"), "utf8"),
    ) as { packages: Record<string, { version: string }> };
    const installed = Object.entries(lock.packages).map(
      ([path, { version }]) => `${path.replace(/^.*node_modules\//, "")} ${version}`,
    );
    expect(bomFormat).toBe("CycloneDX");
    expect(components.filter(({ licenses }) => !(licenses?.length > 0))).toEqual([]);
    const listed = components.map(({ name, version }) => `${name} ${version}`);
    expect([...new Set(listed)].sort()).toEqual([...new Set(installed)].sort());
  });

  test("produce the compiled program, as a container cannot write the cache", () => {
    const cache = join(root, "app", "node_modules", ".cache");
    expect(readdirSync(cache)).toEqual(["alpha-gateway"]);
    const [compiled = ""] = readdirSync(join(cache, "alpha-gateway"));
    expect(readdirSync(join(cache, "alpha-gateway", compiled)).length).toBeGreaterThan(20);
  });

  test("produce a program that serves, writes only its data, and exits on a signal", async () => {
    const [node, ...script] = JSON.parse(instruction("CMD")) as string[];
    expect(node).toBe("node");
    const app = join(root, "app");
    const before = filesOf(app);

    const gateway = await serve(temporaryFolder(), {
      cwd: app,
      script: [join(app, script[0] ?? "")],
      env: {
        ...environment,
        SANDBOX: "true",
        HOST: "127.0.0.1",
        PORT: "0",
        ADMIN_PORT: "0",
        DATA_DIR: temporaryFolder(),
      },
    });
    const [, token = ""] = await gateway.waitForOutput(/^Token +(\S+)$/m);
    const response = await fetch(`${gateway.url}/v4/vm/instances`, {
      headers: { authorization: `token ${token}` },
    });
    expect(response.status).toBe(200);
    gateway.signal("SIGTERM");

    expect(await gateway.ended).toMatchObject({ code: 0, signal: null, err: "" });
    expect(filesOf(app)).toEqual(before);
  }, 60_000);

  test("have a health check that passes while the gateway runs, and fails afterwards", async () => {
    const [node, flag = "", program = ""] = JSON.parse(
      instruction("HEALTHCHECK").replace(/^.*? CMD /, ""),
    ) as string[];
    expect(node).toBe("node");
    const gateway = await serve(temporaryFolder());
    const ask = (): Promise<Ended> =>
      run([], { script: [flag, program], env: { ADMIN_PORT: new URL(gateway.admin).port } }).ended;

    expect(await ask()).toMatchObject({ code: 0, err: "" });
    gateway.signal("SIGTERM");
    await gateway.ended;
    expect(await ask()).toMatchObject({ code: 1, err: "" });
  }, 60_000);
});
