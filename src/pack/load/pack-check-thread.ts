/** The entry file of a thread that checks one pack. */
import { checkFiles } from "./checked-pack.ts";
import { PackError, serveJobs } from "../../base/index.ts";
import type { PackCheckJob, PackCheckReply } from "./pack-check.ts";

function check({ files, words }: PackCheckJob): PackCheckReply {
  try {
    return { checked: checkFiles(files, words) };
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    // The log must not contain lines of pack files, and each may be as long as its file.
    return { diagnostics: error.diagnostics.map((diagnostic) => ({ ...diagnostic, excerpt: "" })) };
  }
}

serveJobs(check);
