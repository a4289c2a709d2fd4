import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from '@orderflow/stack'
import { leaveOut } from '../support/not-run.ts'

/** A file for each image: the digest of what passed last. */
const passedFolder = join(cacheFolder(), 'tested-images')
const contracts = fileURLToPath(new URL('contracts', import.meta.url))

/**
 * The contract of an image. It is left out when it has passed already: for the very image that is here, by the very tests that stand in
 * `contracts/`.
 */
export function describeImage(image: string, contract: (image: string) => void): void {
  const title = `the image ${image}`
  const passedFile = join(passedFolder, image.replaceAll(/[/:]/g, '-'))
  const digest = digestOf(image)
  if (existsSync(passedFile) && readFileSync(passedFile, 'utf8') === digest) {
    leaveOut(title, `passed before, and neither image nor tests have changed; rm -r ${passedFolder} to test them again`)
    return
  }
  describe(title, function () {
    after(() => {
      const tests: Mocha.Test[] = []
      this.eachTest((test) => void tests.push(test))
      if (!tests.every((test) => test.isPassed())) return
      mkdirSync(passedFolder, { recursive: true })
      writeFileSync(passedFile, digest)
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
