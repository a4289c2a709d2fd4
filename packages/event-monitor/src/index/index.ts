/** The index as its files have it, for whoever looks into them without the monitor. */
export { createReads } from './read/reads.ts'
export { segmentsIn } from './series.ts'
