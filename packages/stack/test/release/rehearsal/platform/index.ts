export type { Container, Runtime } from './dynos.ts'
export type { FindImage } from './operations.ts'
export { type PlatformOptions, type RunningPlatform, startPlatform } from './start.ts'
