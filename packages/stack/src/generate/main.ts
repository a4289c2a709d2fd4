import { reportFailure } from '../application/report.ts'
import { generate } from './files.ts'

// A process that has changed the schemas or services.json runs this program, because it has read the old ones.
await generate().catch(reportFailure)
