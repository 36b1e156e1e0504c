/** The secret that encrypts stored tokens, without GATEWAY_SECRET. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readGatewaySecret } from "../../../src/gateway/auth/gateway-secret.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { StateUnavailableError } from "../../../src/base/storage/key-value-store.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, "gateway.secret");
});

const secret = (DATA_DIR = folder, GATEWAY_SECRET?: string) =>
  readGatewaySecret({ DATA_DIR, GATEWAY_SECRET });
const mode = (path: string) => statSync(path).mode & 0o777;

test("GATEWAY_SECRET is used if it is set, and no file is written", () => {
  expect(secret(folder, "of the setting")).toBe("of the setting");
  expect(readdirSync(folder)).toEqual([]);
});

test("the secret is generated once, in a file that only its owner can read", () => {
  const inside = join(folder, "data");
  const created = secret(inside);
  expect(created).toMatch(/^[0-9a-f]{64}$/);
  expect(secret(inside)).toBe(created);
  expect(readdirSync(inside)).toEqual(["gateway.secret"]);
  expect([mode(inside), mode(join(inside, "gateway.secret"))]).toEqual([0o700, 0o600]);
});

test("two data folders have different secrets", () => {
  expect(secret(join(folder, "a"))).not.toBe(secret(join(folder, "b")));
});

test.each([0o644, 0o640, 0o666])("a secret file with mode %o is restricted to its owner", (open) => {
  const created = secret();
  chmodSync(file, open);
  expect(secret()).toBe(created);
  expect(mode(file)).toBe(0o600);
});

describe("an unusable secret file is reported with its name and a remedy, and is not changed", () => {
  test.each([
    ["empty", ""],
    ["cut short", "a".repeat(63)],
    ["written twice", "a".repeat(128)],
    ["no hexadecimal digits", "x".repeat(64)],
    ["binary", "\0".repeat(64)],
  ])("%s", (_, text) => {
    writeFileSync(file, text, { mode: 0o600 });
    expect(() => secret()).toThrow(StateUnavailableError);
    expect(() => secret()).toThrow(/gateway\.secret can't be used.*GATEWAY_SECRET.*sign/);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("a folder of its name", () => {
    mkdirSync(file);
    expect(() => secret()).toThrow(/can't be used: EISDIR/);
  });

  test("a link to nowhere", () => {
    symlinkSync(join(folder, "nothing", "here"), file);
    expect(() => secret()).toThrow(/can't be used: ENOENT/);
  });

  test("a data folder that is a file", () => {
    writeFileSync(file, "");
    expect(() => secret(file)).toThrow(/can't be used: (EEXIST|ENOTDIR)/);
  });

  test("the message does not contain the file's content", () => {
    writeFileSync(file, "half-of-a-secret");
    expect(() => secret()).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("half-of") }),
    );
  });
});
