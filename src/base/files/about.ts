import type { z } from "zod";

/** Adds the description and an example to a key. Editors show both, and `check` repeats the example as a hint. */
export const about = <T extends z.ZodType>(schema: T, description: string, example: unknown): T =>
  schema.meta({ description, examples: [example] });
