/** What the tests of the repository use of the monitor's inside. */
export { HealthProbe } from '../src/health.ts'
export { createReads } from '../src/index/read/reads.ts'
export { segmentsIn } from '../src/index/segment.ts'
export { examine } from '../src/ingest/examine.ts'
