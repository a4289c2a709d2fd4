import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { rebuildReasons } from '../../src/processes/ensure.ts'

describe('rebuildReasons', () => {
  it('match each heading that a service with a lost store names', () => {
    const source = readFileSync(join(repository, 'packages/service-kit/src/runtime/lost-writes/lost-writes.ts'), 'utf8')
    const headings = [...source.matchAll(/docs\/[\w-]+\.md(#[\w-]+)/g)].map(([, heading = '']) => heading)
    expect(headings).not.to.deep.equal([])
    expect(headings.filter((heading) => !rebuildReasons.test(heading))).to.deep.equal([])
  })
})
