/** DELETE: a row that declares so is shown as `deleting` for a while, and then gone with everything below it. */

import type { Row } from "../store/table.ts";
import type { Call, Removal } from "./declaration.ts";
import { deleteCascade } from "./delete-cascade.ts";
import { record } from "./events.ts";
import { startTransition } from "./transitions.ts";

export function removeRow(call: Call & { readonly row: Row<object> }, { event, takes = 0 }: Removal): void {
  const { world, at, resource, row } = call;
  // The second DELETE of a row must not give it a longer life.
  const ends = at + takes * 1000;
  const planned = world.timeline.ahead.some(
    (step) =>
      step.drop &&
      step.id === row.id &&
      step.job === row.job &&
      step.table === resource.name &&
      step.at <= ends,
  );
  if ((row.value as { status?: string }).status === "deleting" && planned) return;
  const recorded = event && record(call, event, row, takes);
  if (takes === 0) return deleteCascade(world, resource.name, row);
  const stages = [
    { status: "deleting", takes },
    { status: "deleting", takes: 0 },
  ];
  startTransition(world, resource.name, row, at, stages, {
    drop: true,
    ...(recorded && { event: { id: recorded.id, status: "finished" } }),
  });
}
