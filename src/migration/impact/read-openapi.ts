/** Reads an OpenAPI document from files. Nothing is downloaded, and no file outside of its folder is read. */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { dirname, relative, resolve, isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { UnreadableDocumentError } from "./flatten-schema.ts";

/** Maximum total size of a document's files in bytes. The largest public documents have about 12 MB. */
const MAX_BYTES = 24 * 1024 * 1024;
/** Maximum nesting of objects and lists, and of references to references. */
const MAX_DEPTH = 200;
/** Time limit in milliseconds. Resolving references takes a second for the largest public documents. */
const TIMEOUT_MS = 60_000;

/** Reads files of one folder, up to a total size. */
class FolderReader {
  readonly #folder: string;
  #left = MAX_BYTES;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws {UnreadableDocumentError} */
  read(file: string): string {
    const path = realpathSync(file);
    const inside = relative(this.#folder, path);
    if (inside.startsWith("..") || isAbsolute(inside))
      throw new UnreadableDocumentError(`It refers to ${file}, which is outside of its folder.`);
    // Reading a pipe would wait for data.
    const opened = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = fstatSync(opened);
      if (!stats.isFile()) throw new UnreadableDocumentError(`${file} is not a file.`);
      this.#left -= stats.size;
      if (this.#left < 0)
        throw new UnreadableDocumentError(
          `It has more than ${MAX_BYTES / 1024 / 1024} MB, with the files it refers to.`,
        );
      return readFileSync(opened, "utf8");
    } finally {
      closeSync(opened);
    }
  }
}

/** @throws {UnreadableDocumentError} if values are nested too deeply for recursive functions */
function checkDepth(document: unknown): void {
  let level: unknown[] = [document];
  const seen = new Set<unknown>();
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH)
      throw new UnreadableDocumentError(`Its values are nested more than ${MAX_DEPTH} levels deep.`);
    level = level.flatMap((value) => {
      if (typeof value !== "object" || value === null || seen.has(value)) return [];
      seen.add(value);
      return Object.values(value);
    });
  }
}

/** Returns the path of a file, from an address or from a text without a scheme. */
const pathOf = (url: string): string => (url.startsWith("file:") ? fileURLToPath(url) : url);

/** Returns the first line of an error that the document caused. */
const reasonOf = (error: unknown): string =>
  error instanceof RangeError && !/depth/i.test(error.message)
    ? "Its values are nested too deep."
    : (String(error instanceof Error ? error.message : error).split("\n")[0] ?? "");

/**
 * Reads a document, and replaces its references by their targets. Schemas that contain themselves become cyclic
 * objects.
 *
 * @throws {UnreadableDocumentError} if the file, or a file that it references, can't be read, is too large or nested
 *   too deeply
 */
export async function readOpenapi(file: string): Promise<unknown> {
  const { $RefParser } = await import("@apidevtools/json-schema-ref-parser");
  try {
    const path = realpathSync(resolve(file));
    const reader = new FolderReader(dirname(path));
    const { parse: parseYaml } = await import("yaml");
    const parse = (text: string): unknown => {
      const start = text.trimStart()[0];
      // Aliases expand to copies, at most a hundred.
      const document: unknown =
        start === "{" ? JSON.parse(text) : parseYaml(text, { maxAliasCount: 100, uniqueKeys: false });
      checkDepth(document);
      return document;
    };
    return await $RefParser.dereference(path, {
      parse: {
        json: false,
        yaml: false,
        text: false,
        binary: false,
        document: { order: 1, canParse: true, parse: ({ data }: { data: unknown }) => parse(String(data)) },
      },
      resolve: {
        http: false,
        file: false,
        folder: { order: 1, canRead: true, read: ({ url }: { url: string }) => reader.read(pathOf(url)) },
      },
      dereference: { circular: true, maxDepth: MAX_DEPTH },
      timeoutMs: TIMEOUT_MS,
    });
  } catch (error) {
    throw new UnreadableDocumentError(`${file} can't be read. ${reasonOf(error)}`, { cause: error });
  }
}
