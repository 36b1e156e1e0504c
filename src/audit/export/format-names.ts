/** Names of all export formats, which are also the extensions of the files. `migration-commands.ts` of the command line names them again. */
export const EXPORT_FORMATS = ["ndjson", "ndjson.zst", "csv", "har"] as const;

/** The name of an export format. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Whether a value is the name of an export format. */
export const isExportFormat = (name: unknown): name is ExportFormat =>
  EXPORT_FORMATS.some((known) => known === name);
