/** The entry of a thread that checks one pack. */
import { checkFiles } from "./checked-pack.ts";
import { PackError, serveJobs } from "../../base/index.ts";
import type { PackCheckJob, PackCheckReply } from "./pack-check.ts";

function check({ files, words }: PackCheckJob): PackCheckReply {
  try {
    return { checked: checkFiles(files, words) };
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    // A log has no lines of pack files, and each of them may be as long as its file.
    return { diagnostics: error.diagnostics.map((diagnostic) => ({ ...diagnostic, excerpt: "" })) };
  }
}

serveJobs(check);
