import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { changed, undoCommand } from '../../src/new-service/new-service.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('undoCommand', () => {
  afterEach(removeFolders)

  const write = (file: string, text: string) => {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  it('restores uncommitted work in the files that a new service changes', () => {
    const folder = temporaryFolder()
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
    git('init', '--quiet')
    const files = changed.map((path) => (path.includes('.') ? path : `${path}/kafka.yaml`))
    for (const file of files) write(join(folder, file), 'committed')
    git('add', '.')
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message=first')
    write(join(folder, 'services.json'), 'topics of my own')
    writeFileSync(join(folder, '.git/info/exclude'), '*.yaml\n')
    const before = git('status', '--short')

    const undo = undoCommand(folder, 'gift-card-service') ?? ''
    const subscriptions = 'subscriptions.gift-card-service.yaml'
    const added = [
      'gift-card-service/src/main.ts',
      `components/${subscriptions}`,
      `chart/files/components/${subscriptions}`,
    ]
    for (const file of [...files, ...added]) write(join(folder, file), 'new service')
    execFileSync('sh', ['-c', undo], { cwd: folder })

    expect(readFileSync(join(folder, 'services.json'), 'utf8')).to.equal('topics of my own')
    rmSync(join(folder, '.git/info/exclude'))
    expect(git('status', '--short')).to.equal(before)
  })

  it('returns undefined outside a Git repository', () => {
    expect(undoCommand(temporaryFolder(), 'gift-card-service')).to.equal(undefined)
  })
})
