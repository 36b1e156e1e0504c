import type { SentBody } from "../record/client-body.ts";

/** Headers by lower-case name. */
type SentHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parts of a request that may contain secrets. */
export interface SentTexts {
  readonly path?: string;
  /** Whether the path belongs to one of the pack's routes. Default: false. */
  readonly isRoute?: boolean;
  readonly query?: string;
  /** Values of recorded headers. */
  readonly texts?: readonly (string | undefined)[];
  /** Other headers, by lower-case name. */
  readonly headers?: SentHeaders | undefined;
  readonly body?: SentBody | undefined;
}
