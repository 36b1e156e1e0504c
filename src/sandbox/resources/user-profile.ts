/** What the profile of a new user says. */

import { createHash } from "node:crypto";
import type { User } from "./shapes.ts";

export function newProfile(uid: number, username: string): Omit<User, "username" | "email" | "restricted"> {
  const code = createHash("sha1").update(username).digest("hex");
  return {
    uid,
    ssh_keys: [],
    tfa_enabled: false,
    timezone: "UTC",
    email_notifications: true,
    referrals: {
      code,
      url: `https://www.example.com/?r=${code}`,
      total: 0,
      completed: 0,
      pending: 0,
      credit: 0,
    },
    ip_whitelist_enabled: false,
    lish_auth_method: "keys_only",
    authorized_keys: null,
    authentication_type: "password",
    preferences: {},
  };
}
