import { html } from "../html.js";
import { features } from "../names.js";

const FORMATS = ["html", "md", "json", "csv"];

/** The page is opened to be read; the others are files. */
const goal = (format, name) =>
  format === "html" ? { target: "_blank", rel: "noopener" } : { download: `${name}.${format}` };

/**
 * Ways to the migration report, where this gateway makes one; to the guide of one client where it is named.
 *
 * @param query the period and the search of the view
 */
export function reportLinks(client, query) {
  if (!features.report) return null;
  const name = client === undefined ? "migration-report" : `migration-guide-${client}`;
  const given = { ...Object.fromEntries(query), ...(client !== undefined && { client }) };
  const link = (format) => {
    const href = `/api/report?${new URLSearchParams({ format, ...given })}`;
    return html`<a href=${href} ...${goal(format, name)}>${format.toUpperCase()}</a>${" "}`;
  };
  return html`<p class="links">${client === undefined ? "Report " : "Guide "}${FORMATS.map(link)}</p>`;
}
