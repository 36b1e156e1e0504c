/** A record with texts that would act on a terminal. */
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { sampleRecord } from "./sample-record.ts";

/** ESC, CSI in one byte of C1, a bell, and a mark that reverses the text after it. */
export const HOSTILE = "\u001b[2J\u009b2J\u0007\u202e";

/** A record whose replay differs in a member that has a hostile name. */
export function hostileRecord(id: string): AuditRecord {
  const sample = sampleRecord(id, { route: "GET /dns/zones" });
  return {
    ...sample,
    client: { ...sample.client, userAgent: `agent ${HOSTILE}` },
    alpha: {
      ...sample.alpha,
      path: "/v4/dns/zones",
      query: `a=${HOSTILE}`,
      response: {
        dnszones: [],
        page: 1,
        total_pages: 1,
        total_results: 0,
        [`x${HOSTILE}\n0 changed`]: HOSTILE,
      },
    },
    v4: [
      {
        method: "GET",
        path: "/v4/domains?page=1&page_size=25",
        filter: null,
        status: 200,
        response: { data: [], page: 1, pages: 1, results: 0 },
        ms: 1,
      },
    ],
  };
}

/** Everything except line breaks that acts on a terminal. */
export const ACTS = /[^\P{Cc}\n]|\p{Bidi_Control}/u;

/** Commands that print such records in formats for programs. */
export const FOR_PROGRAMS = ["export", "export --format csv", "export --format har", "report --format html"];
