/** A record with texts that would act on a terminal. */
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { EMPTY_ZONES, emptyZones } from "./sample-record.ts";

/** ESC, CSI in one byte of C1, a bell, and a mark that reverses the text after it. */
export const HOSTILE = "\u001b[2J\u009b2J\u0007\u202e";

/** A record whose replay differs in a member that has a hostile name. */
export function hostileRecord(id: string): AuditRecord {
  const sample = emptyZones(id);
  return {
    ...sample,
    client: { ...sample.client, userAgent: `agent ${HOSTILE}` },
    alpha: {
      ...sample.alpha,
      query: `a=${HOSTILE}`,
      response: { ...EMPTY_ZONES, [`x${HOSTILE}\n0 changed`]: HOSTILE },
    },
  };
}

/** Everything except line breaks that acts on a terminal. */
export const ACTS = /[^\P{Cc}\n]|\p{Bidi_Control}/u;

/** Commands that print such records in formats for programs. */
export const FOR_PROGRAMS = ["export", "export --format csv", "export --format har", "report --format html"];
