import { hardenedRuns } from '../../stack/test/offline/contracts/hardened-runs.ts'
import { kafkaContract } from '../../stack/test/offline/contracts/kafka.ts'
import { mongoContract } from '../../stack/test/offline/contracts/mongo.ts'
import { reaperContract } from '../../stack/test/offline/contracts/reaper.ts'

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
