import { hardenedRuns } from './contracts/hardened-runs.ts'
import { kafkaContract } from './contracts/kafka.ts'
import { mongoContract } from './contracts/mongo.ts'
import { reaperContract } from './contracts/reaper.ts'

/**
 * What this project relies on in the images that others make. The same holds for the real ones and for those that are built
 * here under their names: what runs with the latter runs with the former.
 */
export function theLocalImages(): void {
  describe('the images that others make', function () {
    this.timeout(120_000)
    hardenedRuns()
    kafkaContract()
    mongoContract()
    reaperContract()
  })
}
