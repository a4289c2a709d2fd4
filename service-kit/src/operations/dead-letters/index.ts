export { openLog } from '../open-log.ts'
export { type Client, publishMended } from './publish.ts'
export { type Outcome, type ResendOptions, resendEntries } from './resend.ts'
