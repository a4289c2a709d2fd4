import { freePorts, type RunningStack, startStack, testFolder } from '@orderflow/stack'

let started: Promise<RunningStack> | undefined

/** The stack all end-to-end tests share: real Kafka, sidecars and services on free ports, started on first use. */
export function theStack(): Promise<RunningStack> {
  started ??= freePorts().then((ports) => startStack({ folder: testFolder('e2e'), ports, detached: false }))
  return started
}

/** Mocha's root hook: the last test ends the stack. */
export const mochaHooks = {
  async afterAll(this: Mocha.Context): Promise<void> {
    this.timeout(60_000)
    await (await started)?.stop()
  },
}
