/** The functions that a browser can import, too. They read ids and times as people write them. */
export { parseGuid } from './schemas/guid.ts'
export { momentProblem, parseMoment } from './validation/moment.ts'
