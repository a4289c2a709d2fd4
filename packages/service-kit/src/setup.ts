/**
 * Exports what programs need that set up services, such as API keys, the store's functions, and output for a terminal. It loads neither the schemas of
 * events nor the Kafka client.
 */

export { ApplicationError, applicationFile } from './application/file.ts'
export { type ApiKeyRecord, createApiKey, parseApiKeys } from './auth/api-keys.ts'
export { isScope } from './auth/caller.ts'
export { meansYes, OperationError, table } from './operations/terminal.ts'
export { databaseFunctions, documentTables, functionNames } from './sidecar/save-documents.ts'
export { isSecretName } from './telemetry/secret-names.ts'
export { sidecarTraceVariables } from './telemetry/trace-settings.ts'
