/** The public API. Everything exported here is covered by semantic versioning; nothing else in the package is. */
export { alphaGateway, type AlphaGateway } from "./app/alpha-gateway.ts";
export { createGateway, type Gateway } from "./app/create-gateway.ts";
export type { AuditReader, GatewayControls } from "./app/controls.ts";
export type { HostServices } from "./app/host-services.ts";
export type { AlphaGatewayOptions, GatewayOptions, MappingPack } from "./app/options.ts";
export { loadPack } from "./app/read-options.ts";
export type { AuditRecord } from "./audit/index.ts";
export { AuditUnavailableError } from "./audit/index.ts";
export type { AuditPage, AuditQuery } from "./audit/index.ts";
export { ListenError } from "./gateway/index.ts";
export { SettingsError } from "./base/index.ts";
export type { GatewayLogger } from "./base/index.ts";
export type { HostRegistry } from "./base/index.ts";
export type { HostTracer } from "./app/tracing/open-tracing.ts";
export { PackError, type Diagnostic } from "./base/index.ts";
export { StateUnavailableError } from "./base/index.ts";
