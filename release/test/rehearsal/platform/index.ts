export type { Container, ContainerSpec, Runtime } from './dynos.ts'
export { Failure } from './failure.ts'
export type { FindImage } from './operations.ts'
export { type PlatformOptions, type RunningPlatform, startPlatform } from './start.ts'
