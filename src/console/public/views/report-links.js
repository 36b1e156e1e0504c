import { html } from "../html.js";
import { features } from "../names.js";

const FORMATS = ["html", "md", "json", "csv"];

/** The page opens for reading; the other formats are downloaded as files. */
const goal = (format, name) =>
  format === "html" ? { target: "_blank", rel: "noopener" } : { download: `${name}.${format}` };

/**
 * Shows links to the migration report, if this gateway creates one; to the guide of one client if it is given.
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
