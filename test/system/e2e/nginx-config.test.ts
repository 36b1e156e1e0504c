/** Debian's nginx accepts the configuration from deploy/. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { freePort } from "../../support/free-port.ts";
import { describeWith } from "../../support/services.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { REPOSITORY } from "./program.ts";

const describeNginx = await describeWith("nginx");

describeNginx("deploy/nginx.conf", () => {
  const text = readFileSync(join(REPOSITORY, "deploy/nginx.conf"), "utf8");

  test("is valid", async () => {
    const folder = temporaryFolder();
    const server = text
      .replaceAll(/gateway-[12]:8080/g, "127.0.0.1:8080")
      .replace("listen 8080;", `listen 127.0.0.1:${await freePort()};`);
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    writeFileSync(
      join(folder, "nginx.conf"),
      `pid ${folder}/pid; events {} http { access_log off; ${paths.join(" ")}\n${server}}`,
    );
    const check = () =>
      execFileSync("/usr/sbin/nginx", ["-t", "-p", folder, "-c", "nginx.conf", "-e", "stderr"], {
        stdio: "pipe",
      });
    expect(check).not.toThrow();
  });

  test("replaces the clients' X-Forwarded-For", () => {
    expect(text).toMatch(/^ *proxy_set_header X-Forwarded-For \$remote_addr;$/m);
  });
});
