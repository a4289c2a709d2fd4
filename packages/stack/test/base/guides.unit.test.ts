import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { withGuidePaths } from '../../src/base/guides.ts'

describe('withGuidePaths', () => {
  const text = 'Continue with docs/new-service.md (docs/publishing.md#transactions), or https://keda.sh/docs/latest.'

  it('names the paths of guides in an application', () => {
    const guides = 'node_modules/@orderflow/cli/docs'
    expect(withGuidePaths(text, guides)).to.equal(
      `Continue with ${guides}/new-service.md (${guides}/publishing.md#transactions), or https://keda.sh/docs/latest.`,
    )
    const named = `see ${guides}/trust.md`
    expect(withGuidePaths(named, guides)).to.equal(named)
  })

  it('keeps their paths in the repository, where the guides exist', () => {
    expect(withGuidePaths(text)).to.equal(text)
    expect(existsSync(join(import.meta.dirname, '../../../../docs/new-service.md'))).to.equal(true)
  })
})
