import { operate } from '@orderflow/service-kit/operations'
import { service } from './service.ts'

await operate(service)
