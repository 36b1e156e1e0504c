/** The schema of `SUNSET_FILE`. `plan-file.ts` checks its parts for consistency. */
import { z } from "zod";
import { about } from "../../base/index.ts";

const day = z.iso.date("is not a date, YYYY-MM-DD");
const link = z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).max(500);
/** Maximum length of a name in characters. */
export const MAX_NAME_LENGTH = 100;
const names = z.array(z.string().min(1).max(200)).max(200);
/** A text on one line, because it becomes a part of error bodies and labels. */
const line = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}]*$/u, "must be one line");

const stageDefinition = z.strictObject({
  name: about(
    line(MAX_NAME_LENGTH).optional(),
    "Name in the console, in metrics, and where the stage is paused. Default: what the stage does",
    "first brown-outs",
  ),
  freeze: about(
    day.optional(),
    "From this day on (UTC), clients that never used the old API get 403",
    "2026-11-01",
  ),
  brown_out: about(
    z.string().max(100).optional(),
    "When windows begin, in cron's five fields: in a window requests fail, or a field is left out",
    "0 10 * * 1",
  ),
  end: about(
    day.optional(),
    "From this day on (UTC), the routes and clients of this stage get 410",
    "2027-03-01",
  ),
  field: about(
    z
      .string()
      .regex(/^[^.\s]+\.\S+$/, "is not an object and a field, such as book.title")
      .optional(),
    "Object and field of the pack. The field is left out of responses in the windows of `brown_out`",
    "book.title",
  ),
  for: about(
    z
      .string()
      .regex(/^[1-9]\d{0,4}[mh]$/, "is not a length in minutes or hours, such as 30m or 4h")
      .optional(),
    "How long a window lasts, a day at most",
    "1h",
  ),
  zone: about(
    z.string().max(64).optional(),
    "Time zone of `brown_out`, `from` and `until`. Default: UTC",
    "Europe/Berlin",
  ),
  from: about(day.optional(), "Day of the first window", "2027-01-01"),
  until: about(day.optional(), "Day before which the last window begins. Default: none", "2027-02-01"),
  status: about(
    z.union([z.literal(500), z.literal(503)]).optional(),
    "Status in a window. Default: 500, which programs take for temporary and people notice",
    503,
  ),
  routes: about(names.optional(), "Routes, as the pack names them. Left out: all of them", [
    "GET /books",
    "POST /books",
  ]),
  clients: about(
    names.optional(),
    "Names of CLIENTS_FILE, or fingerprints of tokens. Left out: all of them",
    ["billing"],
  ),
  wait_for: about(
    names.optional(),
    "No window begins if one of these clients called the old API within 14 days before",
    ["billing"],
  ),
  text: about(
    line(500).optional(),
    "What clients read in the response, in addition to the reason and the link",
    "New applications use the new interface.",
  ),
});

export type StageDefinition = z.output<typeof stageDefinition>;

/** The schema of the file. */
export const PLAN_SCHEMA = z.strictObject({
  announced: about(day, "Day of the announcement (UTC): the `Deprecation` header (RFC 9745)", "2026-10-01"),
  end: about(
    day.optional(),
    "Day (UTC) from which on all requests get 410: the `Sunset` header (RFC 8594)",
    "2027-03-31",
  ),
  policy: about(
    link.optional(),
    'Page about the end: the `Link` header with rel="sunset"',
    "https://example.com/policy",
  ),
  guide: about(
    link.optional(),
    'Page about the new interface: the `Link` header with rel="deprecation"',
    "https://example.com/migrate",
  ),
  stages: about(z.array(stageDefinition).max(100).default([]), "What happens before the end, in order", [
    { freeze: "2026-11-01" },
  ]),
  allow: about(
    z.record(z.string().min(1).max(200), day).default({}),
    "Clients to which no stage applies before a day (UTC), by their names",
    { billing: "2027-06-30" },
  ),
});

export type PlanText = z.output<typeof PLAN_SCHEMA>;
