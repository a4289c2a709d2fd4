// For tests of services: a sidecar and a log in memory, a log's lines, a small disk, an app that listens, a client of it, who publishes
// what, and how it is signed.
export { createSigner, signatureHeader } from '../trust/trust.ts'
export * from './captured-log.ts'
export * from './disks.ts'
export * from './fake-log.ts'
export * from './fake-sidecar.ts'
export * from './http.ts'
export * from './issuer.ts'
export * from './publisher-of.ts'
export * from './scrape.ts'
export * from './subject.ts'
