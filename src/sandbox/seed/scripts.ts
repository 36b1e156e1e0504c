/** Stored scripts: public ones of others, an own private one, and questions of every kind. */

import type { Script } from "../resources/shapes.ts";

const shared = {
  user_avatar_id: "4f1c0d2e7a9b4c55a0e1d2c3b4a59687",
  created: "2021-11-09T10:15:00",
  updated: "2022-03-09T10:15:00",
  rev_note: "first",
};

export const scripts: readonly Script[] = [
  {
    ...shared,
    id: 90021,
    username: "ops-anna",
    label: "base setup",
    description: "Installs our agents and keys",
    images: ["vm/debian10", "vm/debian11", "vm/ubuntu20.04", "vm/ubuntu22.04"],
    deployments_total: 4,
    deployments_active: 2,
    is_public: false,
    script: "#!/bin/bash\napt-get update && apt-get -y upgrade\n",
    user_defined_fields: [],
  },
  {
    ...shared,
    id: 90022,
    username: "stacks",
    label: "Web server",
    description: "A web server with a certificate",
    images: ["vm/debian11", "vm/ubuntu20.04", "vm/ubuntu22.04", "vm/rocky8"],
    deployments_total: 1520,
    deployments_active: 311,
    is_public: true,
    script:
      '#!/bin/bash\n# <UDF name="ADMIN_MAIL" label="Admin mail" example="a@example.net">\n' +
      '# <UDF name="DOMAIN" label="Domain">\n' +
      '# <UDF name="PHP" label="PHP version" oneof="7.4,8.0,8.1" default="8.1">\n',
    user_defined_fields: [
      { label: "Admin mail", name: "ADMIN_MAIL", example: "a@example.net" },
      { label: "Domain", name: "DOMAIN" },
      { label: "PHP version", name: "PHP", oneof: "7.4,8.0,8.1", default: "8.1" },
    ],
  },
  {
    ...shared,
    id: 90023,
    username: "stacks",
    label: "Debian hardening",
    description: "Firewall, updates and a log host",
    images: ["vm/debian9", "vm/debian10", "vm/debian11"],
    deployments_total: 87,
    deployments_active: 40,
    is_public: true,
    rev_note: "log host",
    script: '#!/bin/bash\n# <UDF name="LOG_HOST" label="Log host" default="">\n',
    user_defined_fields: [{ label: "Log host", name: "LOG_HOST", default: "" }],
  },
  {
    ...shared,
    id: 90024,
    username: "per",
    label: "Game server",
    description: "",
    images: ["vm/ubuntu18.04", "vm/arch"],
    deployments_total: 12,
    deployments_active: 0,
    is_public: true,
    script: '#!/bin/bash\n# <UDF name="GAMES" label="Games" manyof="chess,go,checkers" default="chess">\n',
    user_defined_fields: [{ label: "Games", name: "GAMES", manyof: "chess,go,checkers", default: "chess" }],
  },
];
