import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CliError } from '@orderflow/stack/base'
import { expect } from 'chai'
import { clusterOfKind } from './running.ts'

describe('clusterOfKind', () => {
  const { PATH } = process.env
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-kind-'))
  after(() => rmSync(folder, { recursive: true }))
  afterEach(() => {
    process.env.PATH = PATH
  })

  /** Finds the cluster with a kubectl that prints the name of the current context, or fails without one. */
  function find(context: string) {
    const kubectl = join(folder, 'kubectl')
    writeFileSync(kubectl, `#!/bin/sh\necho '${context}'\n[ -n '${context}' ]\n`)
    chmodSync(kubectl, 0o755)
    process.env.PATH = `${folder}:${PATH}`
    return clusterOfKind(folder, { onProgress: () => {} })
  }

  it('takes the current cluster of kind, into which make up loads the images of services', async () => {
    const { about, applicationImages, exports } = await find('kind-trial')
    expect({ about, applicationImages, exports }).to.deep.equal({
      about: 'the cluster trial of kind',
      applicationImages: [],
      exports: [],
    })
  })

  for (const [context, message] of [
    ['production', 'the current context of kubectl is production, not one of kind'],
    ['', 'kubectl has no current context'],
  ] as const) {
    it(`refuses the context "${context}", and names both ways to a cluster`, async () => {
      const error = await find(context).then(
        () => expect.fail('it has found a cluster'),
        (cause: CliError) => cause,
      )
      expect(error.message).to.contain(message)
      expect(error.nextStep).to.contain('kind create cluster').and.to.contain('make -C tools cluster')
    })
  }
})
