/** The internal parts of the monitor that tests of the whole repository use. */
export { HealthProbe } from '../src/health.ts'
export { createReads } from '../src/index/read/reads.ts'
export { segmentsIn } from '../src/index/segment.ts'
export { examine, rulesOf } from '../src/ingest/examine.ts'
export { savedFixture } from '../src/routes/fixture.ts'
export { indexRecord, testIndex } from './support/records.ts'
