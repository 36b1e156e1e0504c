/** The keys of a field about what its translation loses. */
import { z } from "zod";
import { about, SEVERITIES } from "../../../base/index.ts";
import { needsKey } from "../rules.ts";
import type { FieldKeys } from "./field-key.ts";

const schemas = {
  loss: about(z.string().optional(), "What the translation loses, as text.", "upstream has no owner"),
  loss_when: about(
    z.string().min(1).optional(),
    "JSONata, as in `read`: whether this object loses something.",
    "$value > 100",
  ),
  severity: about(
    z.enum(SEVERITIES).optional(),
    "How much the loss matters: `rounding`, `detail` (the default) or `meaning`.",
    "rounding",
  ),
};

export const losses: FieldKeys<typeof schemas> = {
  schemas,
  rules: { loss_when: [needsKey("loss")], severity: [needsKey("loss")] },
};
