/** Files that operators name: what is no file of a usual size is refused, and nothing waits for it. */
import { execFileSync } from "node:child_process";
import { symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { CLIENTS_FILE } from "../../../src/audit/clients/client-directory.ts";
import { readTextFile } from "../../../src/base/settings/read-text-file.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { readOperatorFile } from "../../../src/base/files/operator-file.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, "clients.yaml");
});

test("a file, and a link to one, are read", () => {
  writeFileSync(file, "billing: {}\n");
  symlinkSync(file, join(folder, "link"));
  expect(readTextFile(join(folder, "link"))).toBe("billing: {}\n");
});

test("a pipe, a device and a folder are refused at once", () => {
  execFileSync("mkfifo", [join(folder, "pipe")]);
  symlinkSync("/dev/zero", file);
  for (const path of [join(folder, "pipe"), file, folder])
    expect(() => readOperatorFile(path, CLIENTS_FILE)).toThrow(
      /AG_FILE_UNREADABLE[^]*can't be read: it is not a file/,
    );
});

test("a file above 4 MB is refused before it is read", () => {
  writeFileSync(file, "");
  truncateSync(file, 4 * 1024 * 1024 + 1);
  expect(() => readOperatorFile(file, CLIENTS_FILE)).toThrow(/AG_FILE_TOO_LARGE[^]*has 4194305 bytes/);
});
