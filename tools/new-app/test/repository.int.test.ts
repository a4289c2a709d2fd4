import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CliError } from '@orderflow/stack/base'
import { expect } from 'chai'
import { createRepository, requireOwnPackages } from '../repository.ts'

describe('the repository of a new application', () => {
  let parent: string
  let folder: string
  const outside = process.env.GIT_CONFIG_GLOBAL
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'orderflow-repository-'))
    folder = join(parent, 'apps/hotel')
  })
  afterEach(() => {
    if (outside === undefined) delete process.env.GIT_CONFIG_GLOBAL
    else process.env.GIT_CONFIG_GLOBAL = outside
    rmSync(parent, { recursive: true })
  })
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(parent, path)), { recursive: true })
    writeFileSync(join(parent, path), text)
    return join(parent, path)
  }
  const useSettings = (settings: string) => {
    process.env.GIT_CONFIG_GLOBAL = write('gitconfig', settings)
  }
  const files = [
    '.gitignore',
    '.vscode/launch.json',
    'chart/Chart.yaml',
    'orderflow',
    'package-lock.json',
    'vendor/cli.tgz',
  ]
  const writeApplication = () => {
    for (const path of files) write(`apps/hotel/${path}`, '.stack/\n')
    chmodSync(join(folder, 'orderflow'), 0o755)
    write('apps/hotel/.stack/log', '')
  }
  const committed = () =>
    execFileSync('git', ['ls-tree', '-r', '--name-only', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim().split('\n')

  it('contains all files, even if the person’s Git settings ignore some', async () => {
    const ignores = write('ignores', '*.tgz\nvendor/\n.vscode/\nchart/\npackage-lock.json\norderflow\n')
    write('template/info/exclude', '*\n')
    useSettings(`[core]\nexcludesFile = ${ignores}\n[init]\ntemplateDir = ${join(parent, 'template')}\n`)
    writeApplication()
    await createRepository(folder, 'Create the application')
    expect(committed()).to.deep.equal(files)
  })

  it('needs none of the person’s hooks, which may fail', async () => {
    const hooks = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit', 'post-checkout']
    for (const hook of hooks) {
      for (const place of ['hooks', 'template/hooks'])
        chmodSync(write(`${place}/${hook}`, '#!/bin/sh\nexit 1\n'), 0o755)
    }
    const settings = [
      `[core]\nhooksPath = ${join(parent, 'hooks')}\n`,
      `[init]\ntemplateDir = ${join(parent, 'template')}\n`,
    ]
    for (const setting of settings) {
      useSettings(setting)
      writeApplication()
      await createRepository(folder, 'Create the application')
      expect(committed()).to.deep.equal(files)
      rmSync(folder, { recursive: true })
    }
  })

  it('refuses Git settings with which a clone has other content', async () => {
    const attributes = write('attributes', '*.tgz filter=empty\n')
    useSettings(`[core]\nattributesFile = ${attributes}\n[filter "empty"]\nclean = true\nsmudge = cat\n`)
    writeApplication()
    const failure = await createRepository(folder, 'Create the application').catch((error) => error)
    expect(failure.message).to.match(/ lacks vendor\/cli\.tgz, or /)
    expect(failure.nextStep).to.be.a('string')
  })

  for (const workspaces of [['apps/*'], ['**'], { packages: ['./apps/hotel/'] }]) {
    it(`needs a folder outside of npm workspaces such as ${JSON.stringify(workspaces)}`, async () => {
      write('package.json', JSON.stringify({ name: 'company', workspaces }))
      const failure = await requireOwnPackages(folder).catch((error) => error)
      expect(failure).to.be.instanceOf(CliError).with.property('nextStep').that.contains('choose a DIR outside')
      expect(readdirSync(parent)).to.deep.equal(['package.json'])
    })
  }

  it('accepts a folder of another npm package, outside of its workspaces', async () => {
    write('package.json', JSON.stringify({ name: 'company', workspaces: ['packages/*'] }))
    await requireOwnPackages(folder)
    mkdirSync(folder, { recursive: true })
    await requireOwnPackages(folder)
    expect(existsSync(folder)).to.equal(true)
    expect(readdirSync(folder)).to.deep.equal([])
  })
})
