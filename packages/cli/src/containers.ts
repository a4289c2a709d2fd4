// The stack in containers, for the tests that run docker-compose.yml as projects of their own.

export { docker } from './containers/docker.ts'
export { composeMissing, engineMissing } from './containers/engine.ts'
export { buildServiceImages } from './containers/images.ts'
export { kafkaPasswords, variableOf } from './containers/project.ts'
export { podOf } from './containers/replicas.ts'
export { reaperImage, testImages } from './lib/images.ts'
