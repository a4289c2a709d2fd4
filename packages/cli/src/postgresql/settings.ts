/**
 * Of every PostgreSQL server of the stack, in containers and as a process. A sidecar's pool has up to 32 connections
 * (components/postgresql/statestore.yaml), so this is enough for twelve of them, and for operators.
 */
export const postgresqlSettings = { max_connections: 400 }
