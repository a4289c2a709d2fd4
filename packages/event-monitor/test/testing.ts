/** The internal parts of the monitor that tests of the whole repository use. */
export { HealthProbe } from '../src/health.ts'
export { type MonitorIndex, openIndex } from '../src/index/monitor-index.ts'
export { createReads } from '../src/index/read/reads.ts'
export { segmentsIn } from '../src/index/segment.ts'
export { examine, rulesOf } from '../src/ingest/examine.ts'
export { createLiveViews } from '../src/live-views.ts'
export { savedFixture } from '../src/routes/fixture.ts'
export { indexRecord, testIndex } from './support/records.ts'
