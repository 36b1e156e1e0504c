import { settingFlag, readSettings } from "../config/settings.ts";
import type { Settings } from "../config/schema.ts";

/** Settings of verbs that read what a gateway recorded, as flags besides the verb's own. */
const NAMES = ["DATA_DIR", "DATABASE_URL", "MAPPINGS_DIR", "WORDS"] as const;

type StoreSetting = (typeof NAMES)[number];

export const STORE_FLAGS = {
  "data-dir": { type: "string" },
  "database-url": { type: "string" },
  "mappings-dir": { type: "string" },
  words: { type: "string" },
} as const;

/** Reads them, flags before the environment. @throws {SettingsError} */
export function storeSettings(
  values: Readonly<Record<string, string | boolean | undefined>>,
): Pick<Settings, StoreSetting> {
  const given = NAMES.flatMap((name) => {
    const value = values[settingFlag(name)];
    return typeof value === "string" ? [`--${settingFlag(name)}=${value}`] : [];
  });
  // What else the environment sets is of no matter here, and must not be in the way.
  const environment = Object.fromEntries(NAMES.map((name) => [name, process.env[name]]));
  return readSettings(given, environment);
}
