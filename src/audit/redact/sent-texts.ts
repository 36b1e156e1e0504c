import type { SentBody } from "../record/client-body.ts";

/** Headers by their names in lower case. */
type SentHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parts of a request that may contain secrets. */
export interface SentTexts {
  readonly path?: string;
  /** Whether the path is one of the pack's routes. Default: no. */
  readonly isRoute?: boolean;
  readonly query?: string;
  /** Headers that are recorded. */
  readonly texts?: readonly (string | undefined)[];
  /** Other headers, with their names in lower case. */
  readonly headers?: SentHeaders | undefined;
  readonly body?: SentBody | undefined;
}
