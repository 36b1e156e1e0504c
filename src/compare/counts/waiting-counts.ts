/** The counts of one process, source and subject that were not added to the counts of all replicas yet. */
import type { Redaction } from "../../audit/index.ts";
import type { ClientRoom } from "../answers/client-room.ts";
import { type Compared, lineKey } from "../answers/comparison.ts";
import { GrowingCounts } from "./add-counts.ts";
import {
  caseOf,
  createRoute,
  type FieldCounts,
  hasCase,
  MAX_EXAMPLES,
  type RouteCounts,
  type SourceCounts,
} from "./counts.ts";
import type { CoverAnswer } from "./coverage.ts";
import { createExample } from "./example.ts";

/** Maximum size in bytes of a response that is searched for coverage. */
const MAX_COVERED_BYTES = 65_536;
/** Maximum number of characters of a field's path, and of the name of a client. */
const MAX_NAME = 200;

interface WaitingOptions {
  /** Returns the redaction of the active pack. */
  readonly redaction: () => Redaction;
  /** Returns the parts of a route that occur in a response, by the active pack. */
  readonly cover: CoverAnswer;
  readonly newId: () => string;
  /** The room for examples that wait. */
  readonly exampleRoom: ClientRoom;
}

const cut = (text: string): string => text.slice(0, MAX_NAME);

/** Returns the fields of a result, with short names and without duplicates: a field of a list may differ in each row. */
function fieldsOf({ result, differences, time, client, provenBy = "" }: Compared): FieldCounts[] {
  if (result !== "different" && result !== "unstable") return [];
  const common = {
    count: Number(result === "different"),
    unstable: Number(result === "unstable"),
    first: time,
    last: time,
    by: provenBy,
    clients: client === null ? [] : [cut(client)],
  };
  const fields = differences.map(({ field, kind }) => ({ ...common, field: cut(field), kind, examples: [] }));
  return [...new Map(fields.map((field) => [lineKey(field), field])).values()];
}

/** Returns the counts of one result. */
function countsOf(compared: Compared, digest: string): RouteCounts {
  const { result, reason = "unreadable", time, provenBy, accepted = [] } = compared;
  return {
    ...createRoute(time),
    comparisons: 1,
    ...(result === "not_comparable" ? { notComparable: { [reason]: 1 } } : { [result]: 1 }),
    ...(provenBy !== undefined && digest !== "" && { cases: { [provenBy]: digest } }),
    differing: result === "different" ? digest : "",
    fields: fieldsOf(compared),
    acceptedLines: Object.fromEntries(
      accepted.map(({ field, kind }) => [lineKey({ field: cut(field), kind }), 1]),
    ),
  };
}

/** Whether a field has room for a further example in all counts. */
const lacksExample = (known: readonly RouteCounts[], field: FieldCounts): boolean =>
  known
    .flatMap(({ fields }) => fields.filter((each) => lineKey(each) === lineKey(field)))
    .every(({ examples }) => examples.length < MAX_EXAMPLES);

/** Waiting counts. They have the limits of the stored counts. */
export class WaitingCounts extends GrowingCounts {
  /** The examples as JSON with their clients, by their ids. */
  readonly examples = new Map<string, { readonly text: string; readonly by: string }>();

  /** Counts a result. @param others further counts of the same source that may contain its case */
  count(
    compared: Compared,
    others: readonly (SourceCounts | null | undefined)[],
    { redaction, cover, newId, exampleRoom }: WaitingOptions,
  ): void {
    const { subject, route, result, key, provenBy, answer, sample } = compared;
    const by = provenBy ?? "";
    const digest = key === undefined ? "" : caseOf(key);
    const counts = countsOf(compared, result === "unstable" ? "" : digest);
    const known = [this.counts, ...others].flatMap((each) =>
      each?.subject === subject ? (each.routes[route] ?? []) : [],
    );
    const isNew =
      digest !== "" &&
      !known.some(({ cases, differing }) =>
        [differing, ...Object.values(cases)].some((each) => hasCase(each, digest)),
      );
    if (isNew && provenBy !== undefined && answer && answer.length <= MAX_COVERED_BYTES)
      counts.seen = [...cover(route, answer)];
    const hasExample =
      isNew && result === "different" && counts.fields.some((field) => lacksExample(known, field));
    if (!hasExample || !sample || exampleRoom.roomOf(by) < 1) return this.add(route, counts);
    const id = newId();
    // The sample is redacted immediately, so that no secrets are stored.
    const text = JSON.stringify(createExample(compared, sample, id, redaction()));
    for (const field of counts.fields) field.examples.push({ id, bytes: Buffer.byteLength(text) });
    this.add(route, counts);
    if (!this.hasExample(id)) return;
    this.examples.set(id, { text, by });
    exampleRoom.take(by);
  }

  /** Adds later counts that wait as well. */
  join(later: WaitingCounts): void {
    this.addAll(later.counts);
    for (const [id, example] of later.examples) this.examples.set(id, example);
  }
}
