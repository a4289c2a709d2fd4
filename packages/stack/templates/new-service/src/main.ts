import { run } from '@orderflow/service-kit'
import { service } from './service.ts'

await run(service)
