const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d))?$/;

/**
 * Converts a date-time to the form of both dialects, `YYYY-MM-DDTHH:MM:SS` in UTC. An offset is converted, and a
 * fraction is cut. A time without a zone is UTC. A date without a time is invalid: neither dialect defines the time of
 * day that it means.
 *
 * @returns `undefined` for any other text, and for days that do not exist.
 */
export function normalizeDateTime(text: string): string | undefined {
  const [, written, sign, hours, minutes] = form.exec(text) ?? [];
  if (written === undefined) return undefined;
  const time = Date.parse(`${written}Z`);
  // Date.parse accepts February 30 and 24:00, and returns a later day.
  if (Number.isNaN(time) || formatDateTime(time) !== written) return undefined;
  if (sign === undefined) return written;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return formatDateTime(sign === "+" ? time - offset : time + offset);
}

/** Formats a time; undefined if the year does not have four digits. */
function formatDateTime(time: number): string | undefined {
  const printed = new Date(time).toISOString();
  return printed.length === "YYYY-MM-DDTHH:MM:SS.mmmZ".length ? printed.slice(0, -5) : undefined;
}
