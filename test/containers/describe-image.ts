import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { hasPassed, whyLeftOut } from '../repository/passed.ts'

const contracts = fileURLToPath(new URL('contracts', import.meta.url))

/** Tests the contract of an image, unless this image has already passed the tests in `contracts/`. */
export function describeImage(image: string, contract: (image: string) => void): void {
  const title = `the image ${image}`
  const digest = digestOf(image)
  const reason = whyLeftOut(title, digest)
  if (reason !== undefined) {
    leaveOut(title, reason)
    return
  }
  describe(title, function () {
    after(() => {
      const tests: Mocha.Test[] = []
      this.eachTest((test) => void tests.push(test))
      if (tests.every((test) => test.isPassed())) hasPassed(title, digest)
    })
    contract(image)
  })
}

function digestOf(image: string): string {
  const hash = createHash('sha256')
  hash.update(execFileSync('docker', ['image', 'inspect', '--format', '{{.Id}}', image]))
  for (const name of readdirSync(contracts).sort()) hash.update(readFileSync(join(contracts, name)))
  return hash.digest('hex')
}
