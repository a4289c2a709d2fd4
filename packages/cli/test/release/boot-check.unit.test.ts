import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/cli'
import { createDocuments } from '@orderflow/service-kit'
import { FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'

describe('the boot check of an image', () => {
  const storeOf = (file: string) =>
    /^ {2}type: (state\..+)$/m.exec(readFileSync(join(repository, file), 'utf8'))?.[1] ?? 'none'
  const write = (type: string) =>
    createDocuments(
      new FakeSidecar(type),
      () => new Date(),
    )('')
      .change({ key: 'a', bytes: 1, decide: (view) => view.write({}) })
      .then(
        () => 'written',
        (error: Error) => error.message,
      )

  it('uses a type of store that services support, because other stores never become ready', async () => {
    expect(await write(storeOf('packages/cli/release-image/boot-check/mongodb/statestore.yaml'))).to.equal('written')
    expect(await write('state.in-memory')).to.match(/state\.in-memory is not tested .*; use state\.sqlite/)
  })
})
