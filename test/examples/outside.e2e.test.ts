import { join } from 'node:path'
import { claimFolder } from '@orderflow/stack/parts'
import { checkoutOfRepository } from '../support/checkout.ts'
import { followDocument } from '../support/follow-document.ts'
import { freeOffset } from '../support/free-offset.ts'
import type { RepositoryCopy } from '../support/repository-copy.ts'

describe('docs/outside.md', () => {
  let copy: RepositoryCopy
  let offset: number
  before(async () => {
    copy = checkoutOfRepository()
    // What make up starts goes on when it ends, and must not when this process does.
    await claimFolder(join(copy.folder, '.stack'))
    offset = await freeOffset()
  })
  after(async () => {
    await copy?.run('make', ['down'])
    copy?.remove()
  })

  followDocument('docs/outside.md', () => ({ copy, offset }))
})
