/** A copy of the product's pack that a test changes while a gateway uses it. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./ends-with-test.ts";

export interface PackCopy {
  readonly folder: string;
  /** Sets the default value of two fields of an instance. */
  says(word: string): void;
  /** Writes a file. */
  write(file: string, text: string): void;
}

export function copyPack(): PackCopy {
  const folder = temporaryFolder();
  cpSync("mappings", folder, { recursive: true });
  const instance = readFileSync(join(folder, "instance.yaml"), "utf8");
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  return {
    folder,
    write,
    says(word) {
      const said = instance
        .replace(/^( +group: .* default: )"",/m, `$1${word},`)
        .replace(/^( +ipv6: .* default: )"" /m, `$1${word} `);
      if (said.split(word).length < 3) throw new Error("instance.yaml is not what it was");
      write("instance.yaml", said);
    },
  };
}
