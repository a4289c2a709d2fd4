export { readStanding, readTrust, type Standing, type TrustSettings } from './read-trust.ts'
export { type Evidence, signatureHeader, signatureIn, type Trust, UntrustedError } from './trust.ts'
