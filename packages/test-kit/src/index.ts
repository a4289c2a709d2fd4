export { effectOf, publish } from './effects.ts'
export { createProducer, type LogRecord, type OutsideRecord, openLog } from './kafka.ts'
export { kills } from './kills.ts'
export { poisonOf } from './poison.ts'
export { duplicates, serviceSpecs } from './service-specs.ts'
export {
  type Documents,
  type Operator,
  reacting,
  type TestedService,
  testedServices,
  typesOn,
} from './tested-services.ts'
