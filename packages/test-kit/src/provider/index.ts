export { type Provider, type ProviderOptions, startProvider } from './provider.ts'
export type { Switches } from './switches.ts'
