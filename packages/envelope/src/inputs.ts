/** Functions that a browser can import, too. */
export { parseGuid } from './schemas/guid.ts'
export { momentProblem, parseMoment } from './validation/moment.ts'
