/** What `check` is asked, and what it has found in a folder. */
import type { FileKind } from "../../../pack/schema/file-schema.ts";
import type { Pack } from "../../../pack/pack.ts";
import type { Expression } from "../../../jsonata/expression.ts";
import type { ExampleResult } from "../../../authoring/examples/compare-example.ts";
import type { Diagnostic } from "../../../base/files/diagnostic.ts";

/** The kinds of files with a JSON Schema. */
export type SchemaKind = FileKind | "example" | "catalogs" | "sunset" | "clients" | "notices" | "rollout";

/** The flags of `check`. */
export interface CheckFlags {
  readonly emit?: true;
  readonly update?: true;
  readonly watch?: true;
  readonly laws?: true;
  readonly seed?: string;
  /** The documents of the upstream's API and of the client's, with `laws`. */
  readonly new?: string;
  readonly old?: string;
  /** Whether counterexamples are written as golden cases. */
  readonly golden?: true;
  readonly schema?: SchemaKind;
  readonly format?: "text" | "json";
  /** The file of a golden case. */
  readonly trace?: string;
}

/** What a valid pack has, and its golden cases. */
export interface CheckedFolder {
  readonly pack: Pack;
  readonly expressions: readonly Expression[];
  readonly results: readonly ExampleResult[];
  readonly problems: readonly Diagnostic[];
}
