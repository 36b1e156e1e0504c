/** The public API. Everything exported here is covered by semantic versioning; nothing else in the package is. */
export { alphaGateway, type AlphaGateway } from "./app/alpha-gateway.ts";
export { createGateway, type Gateway } from "./app/create-gateway.ts";
export { loadPack, type AlphaGatewayOptions, type GatewayOptions, type MappingPack } from "./app/options.ts";
export { AuditUnavailableError } from "./audit/store.ts";
export { ListenError } from "./app/http-server.ts";
export { SettingsError } from "./config/settings.ts";
export { PackError, type Diagnostic } from "./mapping/load/diagnostic.ts";
export { StateUnavailableError } from "./storage/key-value-store.ts";
