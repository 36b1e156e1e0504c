/** Date-times as both dialects write them: `YYYY-MM-DDTHH:MM:SS`, UTC, no fraction, no zone letter. */

const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d))?$/;

/**
 * Brings a date-time to the dialects' form: an offset is converted to UTC, a fraction is cut. Without a zone
 * it is UTC. A plain date is no date-time, since neither dialect says which moment of the day it would mean.
 *
 * @returns `undefined` for anything else, days that no calendar has among it.
 */
export function normaliseDateTime(text: string): string | undefined {
  const [, written, sign, hours, minutes] = form.exec(text) ?? [];
  if (written === undefined) return undefined;
  const time = Date.parse(`${written}Z`);
  // Date.parse takes February 30 and 24:00 for the day after.
  if (Number.isNaN(time) || print(time) !== written) return undefined;
  if (sign === undefined) return written;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return print(sign === "+" ? time - offset : time + offset);
}

/** Years that don't fit four digits have no place in the form. */
function print(time: number): string | undefined {
  const printed = new Date(time).toISOString();
  return printed.length === "YYYY-MM-DDTHH:MM:SS.mmmZ".length ? printed.slice(0, -5) : undefined;
}
