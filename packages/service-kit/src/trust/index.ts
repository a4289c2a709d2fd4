export { readStanding, readTrust, type Standing, type TrustSettings } from './read-trust.ts'
export { signatureHeader, signatureIn } from './signature.ts'
export { type Evidence, type Trust, UntrustedError } from './trust.ts'
