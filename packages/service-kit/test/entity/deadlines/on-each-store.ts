import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { Clock, type Faults } from '../account.ts'
import { bill, broken, startBills } from '../bill.ts'

/** A store, a log and clocks for processes with bills. */
export class Bills {
  sidecar: FakeSidecar
  clock = new Clock()
  readonly type: string

  constructor(type: string) {
    this.type = type
    this.sidecar = new FakeSidecar(type)
  }

  /** Empties the store and the log, and starts time again. */
  reset(): void {
    this.sidecar = new FakeSidecar(this.type)
    this.clock = new Clock()
    broken.clear()
  }

  start(faults: Faults = {}, definition = bill): ReturnType<typeof startBills> {
    return startBills(this.sidecar, this.clock, faults, definition)
  }

  /** Lets time pass in steps of a second, and lets all given processes sweep and fire at the same time after each. */
  async passing(ms: number, ...processes: ReturnType<typeof startBills>[]): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1_000) {
      this.clock.pass(1_000)
      await Promise.all(processes.flatMap(({ fire, sweep }) => [fire(), sweep()]))
    }
  }
}

/** Defines a suite for each type of store. */
export function onEachStore(subject: string, define: (bills: Bills) => void): void {
  for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb'])
    describe(`${subject}, on ${type}`, () => {
      const bills = new Bills(type)
      beforeEach(() => bills.reset())
      define(bills)
    })
}
