/** Checks the manifests without a cluster: their settings, probes and names must match the program. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { parseAllDocuments } from "yaml";
import { readEnvironment } from "../../../src/base/settings/settings.ts";
import { environmentOf, parseDockerfile } from "../../support/dockerfile.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { REPOSITORY, serve, type Serving } from "./program.ts";

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly resources: Readonly<Record<"requests" | "limits", Readonly<Record<string, string>>>>;
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface PodSpec {
  readonly securityContext: object;
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string }[];
}

interface Manifest {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
    readonly selector: object & { readonly matchLabels?: object };
    readonly ports: readonly { readonly targetPort: string }[];
    readonly maxUnavailable?: number;
    readonly podSelector?: { readonly matchLabels: object };
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly {
      readonly ports: readonly { readonly port: string }[];
      readonly from?: readonly object[];
    }[];
  };
}

const folder = join(REPOSITORY, "deploy", "kubernetes");
const environment = environmentOf(
  parseDockerfile(readFileSync(join(REPOSITORY, "Dockerfile"), "utf8")).at(-1)!,
);
const { version } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as { version: string };

/** The keys of the secret, from the command in the head of each file. */
const secretsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/--from-literal=(\w+)=(\S*?)…/g)].map(([, name = "", begin = ""]) => [
      name,
      `${begin}${begin ? "host/1" : "s".repeat(32)}`,
    ]),
  );

let gateway: Serving;
let withoutStores: Serving;
beforeAll(async () => {
  gateway = await serve(temporaryFolder());
  const [REDIS_URL, DATABASE_URL] = ["redis://127.0.0.1:1", "postgres://127.0.0.1:1/nowhere"];
  withoutStores = await serve(temporaryFolder(), {
    env: { REDIS_URL, DATABASE_URL, GATEWAY_SECRET: "s".repeat(32) },
  });
}, 60_000);

test("there are manifests for a deployment and a sidecar", () =>
  expect(readdirSync(folder).sort()).toEqual(["deployment.yaml", "sidecar.yaml"]));

describe.each(readdirSync(folder))("%s", (name) => {
  const text = readFileSync(join(folder, name), "utf8");
  const documents = parseAllDocuments(text);
  const manifests = documents.map((document) => document.toJS() as Manifest);
  const of = (kind: string): Manifest => manifests.find((one) => one.kind === kind)!;
  const { template, replicas } = of("Deployment").spec;
  const pod = template.spec;
  const container = pod.containers.find((one) => one.name === "gateway")!;
  const settings = readEnvironment({
    ...environment,
    ...secretsOf(text),
    ...Object.fromEntries((container.env ?? []).map((one) => [one.name, one.value])),
  });
  const ports: Readonly<Record<string, unknown>> = { http: settings.PORT, admin: settings.ADMIN_PORT };

  test("is valid YAML with a kind and a name in each document", () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    for (const one of manifests)
      expect(one).toMatchObject({
        apiVersion: expect.any(String),
        kind: expect.any(String),
        metadata: { name: expect.any(String) },
      });
  });

  test("sets only existing settings, and secrets only from the secret", () => {
    const set = (container.env ?? []).map((one) => one.name);
    expect([...set, ...Object.keys(secretsOf(text))].filter((one) => !Object.hasOwn(settings, one))).toEqual(
      [],
    );
    expect(set.filter((one) => /TOKEN|SECRET|REDIS|DATABASE/.test(one))).toEqual([]);
  });

  test("trusts the proxies in front, so that clients do not share one rate limit", () =>
    expect(settings.TRUST_PROXY).toHaveLength(1));

  test("runs this version on the ports of the image", () => {
    expect(container.image).toBe(`alpha-gateway:${version}`);
    expect(Object.fromEntries(container.ports.map((one) => [one.name, one.containerPort]))).toEqual(ports);
  });

  test("permits only metrics scrapers to reach the admin listener", () => {
    const { podSelector, policyTypes, ingress } = of("NetworkPolicy").spec;
    expect(podSelector?.matchLabels).toEqual(of("Deployment").spec.selector.matchLabels);
    expect(policyTypes).toEqual(["Ingress"]);
    const rules = ingress ?? [];
    const named = pod.containers.flatMap((one) => one.ports.map((port) => port.name));
    expect(rules.flatMap((rule) => rule.ports.map(({ port }) => port)).sort()).toEqual([...named].sort());
    expect(rules.filter(({ ports: open }) => open.some(({ port }) => port === "admin"))).toEqual([
      {
        ports: [{ port: "admin" }],
        from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
      },
    ]);
  });

  test("probes public paths on existing ports", async () => {
    for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
      expect(ports[probe.httpGet.port]).toBe(settings.ADMIN_PORT);
      expect((await fetch(gateway.admin + probe.httpGet.path)).status).toBe(200);
    }
  });

  test("neither restarts nor removes a gateway because a store is down, also when it starts", async () => {
    const ask = async (path: string) => (await fetch(withoutStores.admin + path)).status;
    expect(await ask("/readyz")).toBe(503);
    for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe])
      expect(await ask(probe.httpGet.path)).toBe(200);
  });

  test("has time to drain", () => {
    const [, pause] = container.lifecycle.preStop.exec.command;
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(
      Number(pause) * 1000 + settings.SHUTDOWN_GRACE_MS,
    );
  });

  test("limits every container, runs none as root, and lets none write outside its volumes", () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
    for (const { resources, securityContext } of pod.containers) {
      expect(resources.requests).toMatchObject({ cpu: expect.any(String), memory: expect.any(String) });
      expect(resources.limits["memory"]).toEqual(expect.any(String));
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
    const mounts = new Map(container.volumeMounts.map((one) => [one.mountPath, one.name]));
    expect(pod.volumes.map((one) => one.name)).toContain(mounts.get(settings.DATA_DIR));
  });

  test("routes traffic to its pods, by existing ports", () => {
    const { selector, ports: sent } = of("Service").spec;
    expect(template.metadata.labels).toMatchObject(selector);
    const names = new Set(pod.containers.flatMap((one) => one.ports.map((port) => port.name)));
    expect(sent.map((one) => one.targetPort).filter((one) => !names.has(one))).toEqual([]);
  });

  test("permits some but not all pods to be evicted", () => {
    const budget = manifests.find(({ kind }) => kind === "PodDisruptionBudget")?.spec;
    const bound = budget && template.metadata.labels;
    expect(bound).toEqual(replicas > 1 ? budget?.selector.matchLabels : undefined);
    expect([undefined, 1]).toContain(budget?.maxUnavailable);
  });
});
