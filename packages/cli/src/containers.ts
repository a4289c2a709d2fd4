// The stack in containers, for the tests that run docker-compose.yml as projects of their own.

export { composeMissing } from './containers/compose-plugin.ts'
export { docker } from './containers/docker.ts'
export { engineMissing } from './containers/engine.ts'
export { podOf } from './containers/replicas.ts'
export { buildServiceImages } from './containers/service-images.ts'
export { kafkaPasswords, variableOf } from './containers/variables.ts'
export { reaperImage, testImages } from './lib/images.ts'
