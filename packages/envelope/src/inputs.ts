/** Functions that pages in a browser can also import. */
export { parseGuid } from './schemas/guid.ts'
export { momentProblem, parseMoment } from './validation/moment.ts'
