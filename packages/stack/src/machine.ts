// Prepares this machine: tools, the Docker engine and images.

export { images } from './application/images.ts'
export { ensureImages, prepareImages } from './containers/images.ts'
export { doctor } from './doctor.ts'
export { docker, ensureCompose, ensureEngine } from './provision/engine.ts'
export { provision } from './provision/provision.ts'
