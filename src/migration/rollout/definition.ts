/** The schema of `ROLLOUT_FILE`. `file.ts` checks its parts for consistency. */
import { z } from "zod";
import { about } from "../../base/index.ts";

const names = z.array(z.string().min(1).max(200)).max(1000);

/** A share such as `2.5%`: there are 10 000 buckets, so that two digits after the decimal point are exact. */
const share = z
  .string()
  .regex(/^(?:100(?:\.0{1,2})?|\d{1,2}(?:\.\d{1,2})?)%$/, "is not a share, such as 10% or 0.25%");

const lag = z.string().regex(/^[1-9]\d{0,5}(?:ms|s|m)$/, "is not a time, such as 500ms, 2s or 5m");

const compare = z.strictObject({
  share: about(
    share.default("10%"),
    "Share of the reads that are compared, by a hash of the request id. `0%`: none",
    "10%",
  ),
  per_second: about(
    z.int().min(1).max(1000).default(20),
    "Most comparisons a second of a gateway process",
    20,
  ),
  memory: about(
    z
      .string()
      .regex(/^\d{1,3}mb$/, "is not a number of megabytes, such as 32mb")
      .default("32mb"),
    "Memory for the answers that wait to be compared, from 1mb to 256mb. What does not fit is not compared",
    "32mb",
  ),
  client_share: about(
    share.default("10%"),
    "Share of a client's own rate limit that comparisons may use at the service that did not answer it",
    "10%",
  ),
  skip: about(names.default([]), "Routes that are never compared", ["GET /reports/:id"]),
});

const rule = z.strictObject({
  waves: about(names.min(1).optional(), "The clients of these waves", ["first"]),
  clients: about(names.min(1).optional(), "These clients, by their names in CLIENTS_FILE", ["billing"]),
  share: about(
    share.optional(),
    "This share of the clients. A larger share has all clients of a smaller one",
    "10%",
  ),
  routes: about(
    names.min(1).optional(),
    "Only these routes, as the pack names them. Left out: all. Only with `data: shared`",
    ["GET /books", "GET /books/:id"],
  ),
});

export type RuleDefinition = z.output<typeof rule>;

/** The schema of the file. */
export const ROLLOUT_SCHEMA = z.strictObject({
  data: about(
    z.union([
      z.literal("shared"),
      z.strictObject({ replicated: about(lag, "Longest time until the other side has a write", "2s") }),
    ]),
    "Whose data the two services have: one store (`shared`), or copies (`replicated`, with the lag)",
    "shared",
  ),
  compare: about(compare.prefault({}), "How many reads are compared", { share: "10%" }),
  waves: about(
    z
      .record(z.string().min(1).max(64), names)
      .refine((waves) => Object.keys(waves).length <= 100, "has more than 100 waves")
      .default({}),
    "Groups of clients, by their names in CLIENTS_FILE",
    { first: ["billing", "reports"] },
  ),
  new: about(
    z.union([z.literal("all"), z.array(rule).max(100)]).default([]),
    "Who gets the translation: `all`, or whom one of these rules names. Everybody else gets the old service",
    [{ waves: ["first"] }],
  ),
  turn_back: about(
    z
      .strictObject({
        differences: about(
          z.int().min(2).max(100).default(4),
          "Confirmed differences after which a route returns to the old service",
          4,
        ),
        within: about(
          z.int().min(2).max(1000).default(85),
          "The route returns if it has these differences in about this many comparisons: from `differences` to `differences` + 120. A larger number is more sensitive",
          85,
        ),
      })
      .prefault({}),
    "When a route returns to the old service without a person",
    { differences: 4, within: 85 },
  ),
  salt: about(
    z.string().min(1).max(100).default("rollout"),
    "Decides which clients a share has. Another salt has others",
    "2026-11",
  ),
});

export type RolloutDefinition = z.output<typeof ROLLOUT_SCHEMA>;
