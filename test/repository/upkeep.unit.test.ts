import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'

const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const json = (file: string) => JSON.parse(read(file)) as Record<string, unknown>
const workflows = globSync('.github/{workflows,actions}/**/*.yml', { cwd: repository })

describe('the project’s upkeep', () => {
  it('makes Renovate match every version in a versions.json and every digest of an image', () => {
    interface Manager {
      managerFilePatterns: string[]
      matchStrings: string[]
    }
    const managers = json('renovate.json').customManagers as Manager[]
    const seen = (file: string) =>
      managers
        .filter(({ managerFilePatterns }) => managerFilePatterns.includes(file))
        .flatMap(({ matchStrings }) => matchStrings)
        .flatMap((pattern) => [...read(file).matchAll(new RegExp(pattern, 'g'))].map(([found]) => found))
    const files = ['packages/stack/versions.json', 'tools/cluster/versions.json', 'packages/stack/image-digests.json']
    for (const file of files) {
      const entries = Object.entries(json(file)).map(([name, value]) => `"${name}": "${value}"`)
      expect(seen(file), file).to.have.members(entries)
    }
  })

  it('pins each action to a commit, with its version in a comment', () => {
    expect(workflows).not.to.have.length(0)
    for (const file of workflows) {
      const uses = read(file).match(/(?<=uses: )(?!\.\/).*/g) ?? []
      for (const action of uses) expect(action, file).to.match(/^[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    }
  })

  it('gives workflows only the right to read, and each job a timeout; three jobs may publish', () => {
    for (const file of workflows.filter((each) => each.includes('workflows/'))) {
      expect(read(file).match(/^permissions:.*\n(?: +.*\n)*/gm), file).to.deep.equal([
        'permissions:\n  contents: read\n',
      ])
      const rights = [...read(file).matchAll(/^ +([\w-]+): write$/gm)].map(([, right]) => right)
      const publishing: Record<string, string[]> = {
        'publish.yml': ['id-token', 'packages', 'id-token'],
        'docs.yml': ['pages', 'id-token'],
      }
      expect(rights, file).to.deep.equal(publishing[basename(file)] ?? [])
      expect(read(file), file).not.to.contain('write-all')
      expect(read(file), file).to.contain('\n  cancel-in-progress: true\n')
      const count = (key: string) => read(file).split(`\n    ${key}: `).length
      expect(count('timeout-minutes'), file).to.equal(count('runs-on'))
    }
  })

  it('lets workflows run only existing targets of make', () => {
    const made = workflows.flatMap((file) =>
      [...read(file).matchAll(/run: make (-C tools )?((?:[a-z-]+ ?)+)/g)].flatMap(([, inTools, targets = '']) =>
        targets
          .trim()
          .split(' ')
          .map((target) => ({ target, makefile: inTools ? 'tools/Makefile' : 'Makefile' })),
      ),
    )
    expect(made.map(({ target }) => target)).to.include.members(['unit', 'chaos', 'test-page'])
    for (const { target, makefile } of made) expect(read(makefile)).to.match(new RegExp(`^${target}:`, 'm'))
  })

  it('requires one version of Node everywhere', () => {
    const { node } = json('packages/stack/versions.json')
    expect(read('.node-version').trim()).to.equal(node)
    const [, minimum = ''] = /"node": ">=([\d.]+)"/.exec(read('package.json')) ?? []
    expect(String(node).localeCompare(minimum, undefined, { numeric: true })).to.be.at.least(0)
  })

  it('lists each release with its version, commit and date, oldest first', () => {
    const releases = JSON.parse(read('releases.json')) as { version: string; commit: string; date: string }[]
    expect(releases.at(-1)?.version).to.equal(json('package.json').version)
    for (const { version, commit, date } of releases) {
      expect(commit).to.match(/^[\da-f]{40}$/)
      expect(read('CHANGELOG.md')).to.contain(`\n## ${version} - ${date}\n`)
    }
  })

  it('requires changelog sections for unreleased changes and the current version', () => {
    const changelog = read('CHANGELOG.md')
    expect(changelog).to.match(/^## \[?Unreleased\]?$/m)
    expect(changelog).to.contain(`\n## ${json('package.json').version}`)
  })
})
