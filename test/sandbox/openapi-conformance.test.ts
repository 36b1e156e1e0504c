import { expect, test } from "@jest/globals";
import { describedOperations } from "./openapi.ts";
import { sandboxForAllTests } from "./sandbox-service.ts";

const v4 = sandboxForAllTests({ rateLimit: { limit: 100_000, seconds: 120 } });

/** Ids that are there, so that a response is worth checking. */
const ids: Readonly<Record<string, string>> = {
  vmId: "5201",
  diskId: "88010",
  configId: "30077",
  backupId: "640012",
  imageId: "vm/debian11",
  kernelId: "vm/grub2",
  typeId: "g6-standard-1",
  regionId: "us-east",
  stackscriptId: "90022",
  domainId: "7010",
  recordId: "81234",
  volumeId: "31007",
  ticketId: "220045",
  invoiceId: "3001",
  clientId: "9f0c1d2e3b4a59687766",
  username: "dev-kai",
  credentialId: "9911",
  serviceId: "9971",
  tokenId: "70311",
  loginId: "991",
  paymentId: "4101",
  paymentMethodId: "1501",
  eventId: "910331",
  engineId: "mysql/8.0.26",
  year: "2022",
  month: "4",
};
const special: Readonly<Record<string, string>> = {
  "/nodebalancers/{nodeBalancerId}/configs/{configId}": "/nodebalancers/12077/configs/4401",
  "/nodebalancers/{nodeBalancerId}/configs/{configId}/nodes": "/nodebalancers/12077/configs/4401/nodes",
  "/nodebalancers/{nodeBalancerId}/configs/{configId}/nodes/{nodeId}":
    "/nodebalancers/12077/configs/4401/nodes/66001",
  "/nodebalancers/{nodeBalancerId}": "/nodebalancers/12077",
  "/nodebalancers/{nodeBalancerId}/configs": "/nodebalancers/12077/configs",
  "/nodebalancers/{nodeBalancerId}/stats": "/nodebalancers/12077/stats",
  "/databases/types/{typeId}": "/databases/types/g6-standard-2",
  "/networking/ips/{address}": "/networking/ips/198.18.20.81",
  "/vm/instances/{vmId}/ips/{address}": "/vm/instances/5201/ips/198.18.20.81",
  "/networking/ipv6/ranges/{range}": "/networking/ipv6/ranges/2001:db8:e001:200::",
};

/** Made only when someone asks for one; reading them is tested where they are made. */
const notSeeded =
  /service-transfers\/\{|\/databases\/mysql\/instances\/\{|\/orch\/clusters\/\{|\/firewalls\/\{|\/buckets\/\{clusterId\}\/\{|\/keys\/\{|thumbnail/;

function pathOf(template: string): string {
  return special[template] ?? template.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "0");
}

test("V-089 V-137 every operation of the description is routed", async () => {
  for (const { call, auth, beta } of describedOperations()) {
    const [method = "", template = ""] = call.split(" ");
    if (auth !== "required") continue;
    const request = `${method} ${beta ? "/v4beta" : ""}${pathOf(template)}`;
    expect([request, await v4.as("anonymous").status(request)]).toEqual([request, 401]);
  }
});

test("objects of the seeded accounts match the description", async () => {
  const faults: string[] = [];
  for (const { call, beta } of describedOperations()) {
    const [method = "", template = ""] = call.split(" ");
    if (method !== "GET" || notSeeded.test(template)) continue;
    const request = `${method} ${beta ? "/v4beta" : ""}${pathOf(template)}`;
    const wanted = template === "/profile/grants" ? 204 : 200;
    try {
      const { status } = await v4.ask(request);
      if (status !== wanted) faults.push(`${request} is ${status}`);
    } catch (error) {
      faults.push(String(error));
    }
  }
  expect(faults).toEqual([]);
});
