/** `npx` of the package's tarball and of its git repository, from an empty folder. */
import { execFile } from "node:child_process";
import { globSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { installPackage } from "../install-package.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { REPOSITORY } from "./program.ts";

const execute = promisify(execFile);
const MINUTES = 60_000;

/** Where the package is installed; its tarball is in it. */
let place: string;
/** npm's cache: what it fetched before, and a place of this test for the packages that npx installs. */
let cache: string;

beforeAll(async () => {
  place = process.env["TESTED_PACKAGE"] ?? (await installPackage());
  cache = temporaryFolder();
  const fetched = join((await execute("npm", ["config", "get", "cache"])).stdout.trim(), "_cacache");
  mkdirSync(fetched, { recursive: true });
  symlinkSync(fetched, join(cache, "_cacache"));
}, 5 * MINUTES);

afterAll(() => {
  if (process.env["TESTED_PACKAGE"] === undefined) rmSync(place, { recursive: true });
});

/** With `file:`, since npx runs what an absolute path alone names. */
const tarball = (): string => `file:${globSync(join(place, "alpha-gateway-*.tgz"))[0]}`;

/** The last commit of this repository, as a server would have it. */
async function gitAddress(): Promise<string> {
  const repository = join(temporaryFolder(), "alpha-gateway.git");
  await execute("git", ["clone", "--quiet", "--bare", REPOSITORY, repository]);
  return `git+file://${repository}`;
}

/** How this machine reaches npm: what npm has not fetched before is fetched now. */
const network = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(?:node_extra_ca_certs|https?_proxy|no_proxy)$/i.test(name),
  ),
);

/** Explains a request in an empty folder. */
const explain = (address: string): Promise<{ stdout: string }> =>
  execute("npx", ["--yes", "--prefer-offline", address, "explain", "GET /vm/instances/7"], {
    cwd: temporaryFolder(),
    env: {
      PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
      HOME: temporaryFolder(),
      npm_config_cache: cache,
      ...network,
    },
  });

describe.each([
  ["the tarball", tarball],
  ["the address of the git repository", gitAddress],
])("npx with %s", (_what, addressOf) => {
  let address: string;
  beforeAll(async () => {
    address = await addressOf();
  }, MINUTES);

  test(
    "installs the package and runs the command",
    async () => expect((await explain(address)).stdout).toContain("/v4/vm/instances/7"),
    10 * MINUTES,
  );
});
