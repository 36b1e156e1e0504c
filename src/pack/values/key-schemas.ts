/** Schemas of the most frequent kinds of keys, each with a description and an example. */
import { z } from "zod";
import { about } from "../../base/index.ts";

/** A name, an expression or another text. */
export const text = z.string().min(1);

/** An optional key whose value is a text. */
export const textKey = (description: string, example: string) => about(text.optional(), description, example);

/** A key that is `true`, or left out. */
export const flagKey = (description: string) => about(z.literal(true).optional(), description, true);
