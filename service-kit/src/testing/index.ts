// For the tests of services: a sidecar and a log in memory, a log's lines, an app that listens, a client of it.
export * from './captured-log.ts'
export * from './fake-log.ts'
export * from './fake-sidecar.ts'
export * from './http.ts'
export * from './issuer.ts'
export * from './serve-app.ts'
export type * from './subject.ts'
