/** The functions that a browser can import, too: they read ids and moments as people write them. */
export { parseGuid } from './schemas/guid.ts'
export { momentProblem, parseMoment } from './validation/moment.ts'
