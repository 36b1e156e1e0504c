/** The public API. Only the exports of this file are covered by semantic versioning. */
export { alphaGateway, type AlphaGateway } from "./app/composition/alpha-gateway.ts";
export { createGateway, type Gateway } from "./app/composition/create-gateway.ts";
export type { AuditReader, GatewayControls } from "./app/composition/controls.ts";
export type { HostServices } from "./app/composition/host-services.ts";
export type { AlphaGatewayOptions, GatewayOptions, MappingPack } from "./app/composition/options.ts";
export { loadPack } from "./app/composition/read-options.ts";
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
