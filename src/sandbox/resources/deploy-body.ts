/** What an image is put on a disk with: in the bodies of instance create, rebuild and disk create. */

import type { Fields } from "../rules/field.ts";
import { rootPass } from "./image-deploy.ts";

export const deployBody: Fields = {
  image: { type: "string", nullable: true },
  root_pass: rootPass,
  authorized_keys: { type: "strings" },
  authorized_users: { type: "strings" },
  stackscript_id: { type: "integer" },
  stackscript_data: { type: "object" },
};
