import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
  type Resource,
} from "@opentelemetry/resources";

/** The name of the service and of the instrumentation. */
export const SERVICE_NAME = "alpha-gateway";

/** The resource of all telemetry. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` change it. */
export const createResource = (): Resource =>
  defaultResource()
    .merge(resourceFromAttributes({ "service.name": SERVICE_NAME }))
    .merge(detectResources({ detectors: [envDetector, serviceNameEnvDetector] }));
