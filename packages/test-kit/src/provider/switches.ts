/** The faults of a simulated provider. Shares are from 0 to 1. */
export interface Switches {
  /** The time before each answer, in milliseconds. */
  slowMs: number
  /** The share of payments that are declined. */
  declines: number
  /** The operation whose answers are lost, whose requests fail, and whose keys are forgotten; empty for all operations. */
  faultyOperation: string
  /** The share of requests whose answer is lost after the effect. */
  lostAnswers: number
  /** The share of requests with status 500, which their keys repeat. */
  errors: number
  /** The share of keys that are forgotten at once. */
  forgottenKeys: number
  /** True while the provider answers 503 without an effect. */
  isDown: boolean
  /** The share of webhooks that arrive before the answer. */
  earlyWebhooks: number
  /** The time before other webhooks, in milliseconds. */
  webhookDelayMs: number
  /** The share of facts with two webhooks, which have different ids. */
  doubleWebhooks: number
  /** The share of captures that fail later. */
  failedCaptures: number
  /** The time after which such a capture fails, in milliseconds. */
  captureFailsAfterMs: number
  /** The time after which a reservation lapses, in milliseconds. */
  lapseAfterMs: number
}

export const noFaults: Switches = {
  slowMs: 0,
  declines: 0,
  faultyOperation: '',
  lostAnswers: 0,
  errors: 0,
  forgottenKeys: 0,
  isDown: false,
  earlyWebhooks: 0,
  webhookDelayMs: 0,
  doubleWebhooks: 0,
  failedCaptures: 0,
  captureFailsAfterMs: 86_400_000,
  lapseAfterMs: 7 * 86_400_000,
}

/** Returns switches with changes. @throws {Error} for an unknown switch, or a value of another type */
export function switched(before: Switches, changes: object): Switches {
  for (const [name, value] of Object.entries(changes)) {
    if (!Object.hasOwn(noFaults, name))
      throw new Error(`there is no switch ${name}: use one of ${Object.keys(noFaults).join(', ')}`)
    if (typeof value !== typeof noFaults[name as keyof Switches])
      throw new Error(`the switch ${name} needs a value such as ${noFaults[name as keyof Switches]}`)
  }
  return { ...before, ...changes }
}
