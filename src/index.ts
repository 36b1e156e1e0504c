/** The public API. Everything exported here is covered by semantic versioning; nothing else in the package is. */
export { alphaGateway, type AlphaGateway } from "./app/alpha-gateway.ts";
export { createGateway, type Gateway } from "./app/create-gateway.ts";
export type { AuditReader, GatewayControls } from "./app/controls.ts";
export type { HostServices } from "./app/host-services.ts";
export type { AlphaGatewayOptions, GatewayOptions, MappingPack } from "./app/options.ts";
export { loadPack } from "./app/read-options.ts";
export type { AuditRecord } from "./audit/record/record.ts";
export { AuditUnavailableError } from "./audit/store/store.ts";
export type { AuditPage, AuditQuery } from "./audit/store/store.ts";
export { ListenError } from "./gateway/http/http-server.ts";
export { SettingsError } from "./base/settings/settings.ts";
export type { GatewayLogger } from "./base/log/log.ts";
export type { HostRegistry } from "./base/metrics/instruments.ts";
export type { HostTracer } from "./base/tracing/open-tracing.ts";
export { PackError, type Diagnostic } from "./base/files/diagnostic.ts";
export { StateUnavailableError } from "./base/storage/key-value-store.ts";
