import { type ClientDirectory, CLIENTS_FILE, NO_CLIENTS } from "../../../audit/index.ts";
import { readOperatorFile } from "../../../base/index.ts";

/** Reads the client directory. @throws {OperatorFileError} */
export const readDirectory = (file: string | undefined): ClientDirectory =>
  file === undefined ? NO_CLIENTS : readOperatorFile(file, CLIENTS_FILE);
