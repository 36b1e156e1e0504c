import { read } from "../api.js";
import { make } from "../dom.js";

const FORMATS = ["html", "md", "json", "csv"];

/** Ways to the migration report, where this gateway makes one. */
export async function reportLinks(signal) {
  const { report } = await read("/api", signal);
  if (!report) return null;
  const link = (format) => [
    make(
      "a",
      { href: `/api/report?format=${format}`, download: `migration-report.${format}` },
      format.toUpperCase(),
    ),
    " ",
  ];
  return make("p", { class: "links" }, "Report ", FORMATS.map(link));
}
