export { storeServer } from './compose-settings.ts'
export { inspectContainers, openContainer } from './container.ts'
export type { ContainerName } from './container-control.ts'
export { type ContainerStack, startContainers } from './container-stack.ts'
