/** The documents of both APIs of the shipped pack, for the law of types. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pack } from "../../../src/pack/load/pack.ts";
import { describePack } from "../../../src/pack/openapi/document.ts";
import { namedShapes, toJsonSchema, v4Operations } from "../../spec/v4-operations.ts";

type Json = Record<string, unknown>;

/** The document with references to `components`. Shapes that have no name of their own may be anything. */
function withReferences(document: {
  readonly components: { readonly schemas: object };
  readonly [name: string]: unknown;
}): unknown {
  const text = JSON.stringify(document);
  const names = [...text.matchAll(/"v4#\/([^"]+)"/g)].map(([, name = ""]) => [name, {}] as const);
  const schemas = { ...Object.fromEntries(names), ...document.components.schemas };
  const whole = JSON.stringify({ ...document, components: { schemas } });
  return JSON.parse(whole.replaceAll('"v4#/', '"#/components/schemas/'));
}

/** The upstream's API as an OpenAPI document. */
function upstreamDocument(): unknown {
  const { $id: _id, ...schemas } = namedShapes();
  const paths: Record<string, Json> = {};
  for (const [call, { response }] of Object.entries(v4Operations.operations)) {
    const [method = "", path = ""] = call.split(" ");
    const content = response && { "application/json": { schema: toJsonSchema(response) } };
    (paths[path] ??= {})[method.toLowerCase()] = {
      responses: { 200: { description: "ok", ...(content && { content }) } },
    };
  }
  return withReferences({
    openapi: "3.1.0",
    info: { title: "v4", version: "1" },
    paths,
    components: { schemas },
  });
}

/** The description of the old API that `alpha-gateway openapi` prints, with the words of some members. */
function clientDocument(pack: Pack, words: Readonly<Record<string, readonly string[]>>): unknown {
  const document = structuredClone(describePack(pack, "1")) as {
    components: { schemas: Record<string, { properties: Json }> };
  };
  for (const [field, values] of Object.entries(words)) {
    const [object = "", member = ""] = field.split(".");
    const { properties } = document.components.schemas[object] ?? { properties: {} };
    properties[member] = { ...(properties[member] as Json), enum: values };
  }
  return document;
}

/** Writes both documents to files for as long as `use` runs. */
export async function withDocuments<T>(
  pack: Pack,
  words: Readonly<Record<string, readonly string[]>>,
  use: (files: { readonly new: string; readonly old: string }) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "documents-"));
  const files = { new: join(folder, "new.json"), old: join(folder, "old.json") };
  try {
    writeFileSync(files.new, JSON.stringify(upstreamDocument()));
    writeFileSync(files.old, JSON.stringify(clientDocument(pack, words)));
    return await use(files);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
