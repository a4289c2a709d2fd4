export class MonitorError extends Error {
  readonly code:
    | 'not-kept'
    | 'no-event'
    | 'not-in-log'
    | 'refused'
    | 'not-ready'
    | 'other-attempt'
    | 'idempotency-key-reused'
  constructor(code: MonitorError['code'], message: string) {
    super(message)
    this.name = 'MonitorError'
    this.code = code
  }
}
