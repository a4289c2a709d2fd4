export { openLog } from '../log-reader.ts'
export { type Client, publishMended } from './publish.ts'
export { type Outcome, resendEntries } from './resend.ts'
