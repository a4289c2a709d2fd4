/** The queue is full, or the item waited too long in it: this step was not begun, and may be tried again. */
export class OverloadError extends Error {
  readonly code = 'overload'
  constructor(message: string) {
    super(message)
    this.name = 'OverloadError'
  }
}
