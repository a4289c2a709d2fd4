// The parts for tests of whole releases (test/release): a platform with its registry, and an operator's commands.

export { docker } from '../../../src/release/docker.ts'
export { buildImage, requireAcceptable, requireBoot } from '../../../src/release/image.ts'
export { createOperator } from '../support/commands.ts'
export { serviceNamed } from '../support/service-named.ts'
export { temporaryFolder } from '../support/temporary-folder.ts'
export { writeCertificate } from './certificate-files.ts'
export { startRegistry } from './registry.ts'
export { type Rehearsal, type RehearsalOptions, startRehearsal } from './rehearsal.ts'
