// Generates files from services.json and the schemas of events.

export { generate, outdatedFiles } from './generate/files.ts'
export { newService } from './new-service/new-service.ts'
