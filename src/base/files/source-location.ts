import { basename } from "node:path";
import {
  MAX_DIAGNOSTICS,
  type Diagnostic,
  type DiagnosticCode,
  withCode,
  type Message,
} from "./diagnostic.ts";
import { suggestionFor } from "./suggest.ts";
import type { YamlSource } from "./yaml-source.ts";
import type { YamlPath } from "./yaml-nodes.ts";

/** The location of an expression in its file. */
export interface Origin {
  /** File and line, for operators and authors: `book.yaml:12`. */
  readonly place: string;
  /** The keys that lead to the expression: `fields.price.read`. */
  readonly path: string;
  /** The field that the expression translates, if it belongs to a field. */
  readonly field: string | undefined;
}

/** A location in a file of a pack, to which diagnostics are reported. */
export interface SourceLocation {
  at(...keys: PropertyKey[]): SourceLocation;
  /** Reports a diagnostic here. `offset` is a number of characters from the start of the text at this location. */
  report(message: Message, offset?: number): void;
  /** Reports a diagnostic of the key at this location. */
  reportKey(message: Message): void;
  /** Whether a definition of this name is invalid, and was left out. */
  isRemoved(name: string): boolean;
  /** The functions that expressions may call, by name. */
  readonly functions: ReadonlyMap<string, string>;
  /** Lower-case names of the client headers that expressions can't read. */
  readonly hiddenHeaders: readonly string[];
  /** Whether an earlier build found the pack valid, so that slow checks can be skipped. */
  readonly isChecked: boolean;
  /** Returns the same location as a part of a field. */
  ofField(name: string): SourceLocation;
  /** Returns the same location, with a different way of reporting for it and the locations below it. */
  with(reporting: Reporting): SourceLocation;
  /** The location of an expression's source, for its errors. */
  readonly origin: Origin;
}

/** The way in which a location reports diagnostics, and the variables of its expressions. */
interface Reporting {
  /** The code of diagnostics that have none. */
  readonly code?: DiagnosticCode;
  /** Whether diagnostics are dropped, because they are reported at a different location. */
  readonly isSilent?: boolean;
  /** Whether diagnostics of locations below are reported here. */
  readonly isPinned?: boolean;
  /** The functions that expressions may call, by name. */
  readonly functions?: ReadonlyMap<string, string>;
  /** Lower-case names of the client headers that expressions can't read. */
  readonly hiddenHeaders?: readonly string[];
}

/** The invalid parts of a pack that are left out. Problems that follow from them are not reported. */
export interface RemovedParts {
  /** Names of the parts. A reference to one of them is valid. */
  readonly names: ReadonlySet<string>;
  /** Whether a part of the map around a path was removed. */
  isIncomplete(source: YamlSource, path: YamlPath): boolean;
}

export const NOTHING_REMOVED: RemovedParts = { names: new Set(), isIncomplete: () => false };

const NO_FUNCTIONS: ReadonlyMap<string, string> = new Map();

/** Maximum number of reports that are kept for one pack: more than {@link MAX_DIAGNOSTICS}, because some are duplicates. */
const MAX_REPORTS = 4 * MAX_DIAGNOSTICS;

/** A location is a path in a file, with the data that all locations of the file share. */
interface LocationParts extends Reporting {
  readonly source: YamlSource;
  readonly diagnostics: Diagnostic[];
  readonly removed: RemovedParts;
}

/**
 * A class, because a pack keeps a thousand locations, and closures for their methods would take 1 MB more. Its members
 * are not `#private`, because some locations inherit from others (`resource-files.ts`).
 */
class FileLocation implements SourceLocation {
  private readonly parts: LocationParts;
  private readonly path: YamlPath;
  private readonly field: string | undefined;

  constructor(parts: LocationParts, path: YamlPath, field?: string) {
    this.parts = parts;
    this.path = path;
    this.field = field;
  }

  at(...keys: PropertyKey[]): SourceLocation {
    return this.parts.isPinned ? this : new FileLocation(this.parts, [...this.path, ...keys], this.field);
  }

  ofField(name: string): SourceLocation {
    return new FileLocation(this.parts, this.path, name);
  }

  with(reporting: Reporting): SourceLocation {
    return new FileLocation({ ...this.parts, ...reporting }, this.path, this.field);
  }

  isRemoved(name: string): boolean {
    return this.parts.isSilent === true || this.parts.removed.names.has(name);
  }

  get functions(): ReadonlyMap<string, string> {
    return this.parts.functions ?? NO_FUNCTIONS;
  }

  get hiddenHeaders(): readonly string[] {
    return this.parts.hiddenHeaders ?? [];
  }

  get isChecked(): boolean {
    return this.parts.source.isChecked;
  }

  get origin(): Origin {
    const { source } = this.parts;
    return {
      place: `${basename(source.file)}:${source.lineAt(this.path)}`,
      path: this.path.join("."),
      field: this.field,
    };
  }

  report(message: Message, offset?: number): void {
    this.add(({ diagnosticAt }) => diagnosticAt(this.path, this.withCode(message), offset));
  }

  reportKey(message: Message): void {
    this.add(({ keyDiagnosticAt }) => keyDiagnosticAt(this.path, this.withCode(message)));
  }

  private withCode(message: Message): Message {
    return this.parts.code === undefined ? message : withCode(message, this.parts.code);
  }

  private add(create: (source: YamlSource) => Diagnostic): void {
    const { source, diagnostics, removed, isSilent = false } = this.parts;
    if (isSilent || diagnostics.length >= MAX_REPORTS || removed.isIncomplete(source, this.path)) return;
    diagnostics.push(create(source));
  }
}

/** Creates the location of the top of a file. Diagnostics are added to the list. */
export const locationIn = (
  source: YamlSource,
  diagnostics: Diagnostic[],
  removed: RemovedParts = NOTHING_REMOVED,
): SourceLocation => new FileLocation({ source, diagnostics, removed }, []);

/** Looks up a name among the definitions that it may refer to. Reports an unknown name with a suggestion. */
export function resolveReference<T>(
  location: SourceLocation,
  kind: string,
  name: string,
  among: ReadonlyMap<string, T>,
): T | undefined {
  const found = among.get(name);
  if (found === undefined && !location.isRemoved(name))
    location.report({
      message: `unknown ${kind} "${name}"`,
      code: "unknown-reference",
      // Comparing the name with all others takes long, so this is only done for diagnostics that are kept.
      get hint() {
        return suggestionFor(name, [...among.keys()]);
      },
    });
  return found;
}
