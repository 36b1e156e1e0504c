/** What the sandbox is seeded with, as far as several tests name it. */
import { debianInstance } from "./helpers.ts";

/** A script of the seed that requires two responses. */
export const instanceFromScript = { ...debianInstance, stackscript: "90022" };

/** What it asks for. */
export const scriptInput = { ADMIN_MAIL: "a@example.net", DOMAIN: "example.net" };

/** A backup of the seeded instance 5205, which is in fremont. */
export const instanceFromBackup = { datacenter: "fremont", type: "g6-standard-6", backup: "640016" };
