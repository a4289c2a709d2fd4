/** An event that its AppId may not say, or that is not by whom it says. `message` tells what, and what would mend it. */
export class UntrustedError extends Error {
  readonly code = 'untrusted'
  constructor(message: string) {
    super(message)
    this.name = 'UntrustedError'
  }
}
