/** DELETE: a row that declares so is shown as `deleting` for a while, and then gone with everything below it. */

import type { Row } from "../store/table.ts";
import type { Call, DeleteDeclaration } from "./declaration.ts";
import { deleteCascade } from "./delete-cascade.ts";
import { recordEvent } from "./events.ts";
import { startTransition } from "./transitions.ts";

export function deleteRow(
  call: Call & { readonly row: Row<object> },
  { event, durationSeconds = 0 }: DeleteDeclaration,
): void {
  const { store, at, resource, row } = call;
  // The second DELETE of a row must not give it a longer life.
  const ends = at + durationSeconds * 1000;
  const planned = store.timeline.pending.some(
    (step) =>
      step.drop &&
      step.id === row.id &&
      step.job === row.job &&
      step.table === resource.name &&
      step.at <= ends,
  );
  if ((row.value as { status?: string }).status === "deleting" && planned) return;
  const recorded = event && recordEvent(call, event, row, durationSeconds);
  if (durationSeconds === 0) return deleteCascade(store, resource.name, row);
  const stages = [
    { status: "deleting", durationSeconds },
    { status: "deleting", durationSeconds: 0 },
  ];
  startTransition(store, resource.name, row, at, stages, {
    drop: true,
    ...(recorded && { event: { id: recorded.id, status: "finished" } }),
  });
}
