/** What `check` is asked, and what it has found in a folder. */
import type { FileKind, Pack } from "../../../pack/index.ts";
import type { Expression } from "../../../jsonata/index.ts";
import type { ExampleResult } from "../../../authoring/index.ts";
import type { Diagnostic } from "../../../base/index.ts";

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
