// Prepares this machine: tools, the Docker engine and images.

export { images, testImages } from './application/images.ts'
export { buildServiceImages, ensureImages } from './containers/images.ts'
export { doctor } from './doctor.ts'
export { composeMissing, docker, engineMissing, ensureCompose, ensureEngine } from './provision/engine.ts'
export { provision, testToolsOf } from './provision/provision.ts'
