import { expect, test } from "@jest/globals";
import { loadedWith, packagesOf } from "./loaded-with.ts";

/** Packages that a gateway needs only where a setting asks for them. OpenTelemetry's are not even installed elsewhere. */
const ON_DEMAND = /^(?:@opentelemetry\/|@redis\/|pg$|rate-limiter-flexible$)/;

test.each(["app/cli/program.ts", "app/cli/serve.ts", "index.ts"])(
  "%s loads no package that is used on demand",
  (entry) => {
    const loaded = [...loadedWith([entry])];
    expect(loaded).toContain("base/index.ts");
    const packages = loaded.flatMap((file) => packagesOf(file).map((name) => ({ file, name })));
    expect(packages.filter(({ name }) => ON_DEMAND.test(name))).toEqual([]);
  },
);
