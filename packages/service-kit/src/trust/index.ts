export { type Listing, readListing, readTrust, type TrustSettings } from './read-trust.ts'
export { createSigner, type Evidence, signatureHeader, signatureIn, type Trust, UntrustedError } from './trust.ts'
