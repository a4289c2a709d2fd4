/** What a browser can import, too: ids and moments as people and programs write them. */
export { parseGuid } from './schemas/guid.ts'
export { momentProblem, parseMoment } from './validation/moment.ts'
