/** The picture of a person is known by a hash of the name. */

import { createHash } from "node:crypto";

export function avatarOf(username: string): string {
  return createHash("md5").update(username).digest("hex");
}
