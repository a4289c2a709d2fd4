import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { move } from '../../src/upgrade/move.ts'
import { UpgradeError } from '../../src/upgrade/run.ts'
import type { Step } from '../../src/upgrade/steps.ts'
import { newCli } from '../../src/upgrade/upgrade.ts'
import { removeFolders, temporaryFolder } from '../support.ts'
import { archivesOf, type SmallApplication, smallApplication } from './small-application.ts'

const rename: Step = {
  version: '2.0.0',
  title: 'Rename the setting Web.Hosts',
  why: 'The new name has a unit.',
  change: (application) => writeFileSync(join(application, 'renamed.txt'), ''),
}

const packageFolder = join(import.meta.dirname, '../..')

describe('an upgrade', () => {
  let application: SmallApplication
  let printed: string[]
  beforeEach(() => {
    application = smallApplication()
    printed = []
  })
  afterEach(removeFolders)

  const upgradeWith = (given: { archives: string; cli: string }, steps: Step[] = []) =>
    move({ application: application.folder, ...given, steps, print: (text) => void printed.push(text) })
  const upgradeTo = (version: string, steps: Step[] = []) => upgradeWith(archivesOf(version), steps)
  const refusal = (work: Promise<unknown>): Promise<UpgradeError> =>
    work.then(
      () => expect.fail('no refusal'),
      (error) => error,
    )
  const expectUnchanged = () => {
    expect(application.git('branch')).to.equal('* main')
    expect(application.git('status', '--short')).to.equal('')
    expect(printed).to.deep.equal([])
  }
  /** Runs the command of a next step that goes back, and expects the application as it was before the upgrade. */
  const goBack = (nextStep: string | undefined) => {
    const [, command = ''] = /To go back: (.*)$/m.exec(nextStep ?? '') ?? []
    execFileSync('sh', ['-c', command], { cwd: application.folder, stdio: 'pipe' })
    expect(application.git('status', '--short', '--branch')).to.equal('## main')
    expect(application.git('branch')).to.equal('* main')
    expect(read('package.json')).to.contain('orderflow-cli-1.0.0.tgz')
  }
  const read = (path: string) => readFileSync(join(application.folder, path), 'utf8')

  it('creates a commit for the packages, for each step and for the generated files, on a branch', async () => {
    await upgradeTo('2.0.0', [{ ...rename, version: '1.0.0', title: 'Skip an old step' }, rename])
    expect(application.git('log', '--format=%s%n%b', 'main..upgrade-2.0.0')).to.equal(
      'Generate files with 2.0.0\n\nRename the setting Web.Hosts\nThe new name has a unit.\n\nUpdate the packages to 2.0.0',
    )
    expect(application.git('branch', '--show-current')).to.equal('upgrade-2.0.0')
    expect(application.git('status', '--short')).to.equal('')
    expect(read('generated.txt')).to.contain('2.0.0')
    expect(printed.join('\n'))
      .to.match(/Dapr +1\.18\.2 +1\.19\.0/)
      .and.to.contain('next: git switch main && git merge upgrade-2.0.0')
  })

  it('replaces the archives, adds those that the new packages need, and keeps packages of the application', async () => {
    await upgradeTo('2.0.0')
    const names = ['cli', 'engine', 'kit'].map((name) => `orderflow-${name}-2.0.0.tgz`)
    expect(readdirSync(join(application.folder, 'vendor'))).to.have.members(names)
    const root = JSON.parse(read('package.json'))
    expect(root.dependencies).to.deep.equal({ '@orderflow/cli': `file:vendor/${names[0]}` })
    expect(root.devDependencies).to.include({ '@orderflow/kit': `file:vendor/${names[2]}` })
    const { name, version, dependencies } = JSON.parse(read('toy-service/package.json'))
    expect([name, version]).to.deep.equal(['@orderflow/toy-service', '1.0.0'])
    expect(dependencies).to.deep.equal({ '@orderflow/engine': `file:../vendor/${names[1]}` })
  })

  it('commits new and generated files that the person’s Git settings ignore, and needs no hooks', async () => {
    const settings = temporaryFolder()
    writeFileSync(join(settings, 'ignores'), '*.tgz\nchart/\npackage-lock.json\n')
    for (const hook of ['pre-commit', 'commit-msg', 'post-checkout']) {
      writeFileSync(join(settings, hook), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    }
    const generate = 'mkdir -p chart && date >chart/Chart.yaml && echo "written: chart/Chart.yaml"'
    writeFileSync(join(application.folder, 'orderflow'), `#!/bin/sh\n${generate}\n`)
    application.commit()
    application.git('config', 'core.excludesFile', join(settings, 'ignores'))
    application.git('config', 'core.hooksPath', settings)
    await upgradeTo('2.0.0')
    const archives = ['cli', 'engine', 'kit'].map((name) => `vendor/orderflow-${name}-2.0.0.tgz`)
    const committed = application.git('ls-tree', '-r', '--name-only', 'HEAD').split('\n')
    expect(committed).to.include.members([...archives, 'package-lock.json', 'chart/Chart.yaml'])
  })

  it('moves an application in a folder of a larger repository', async () => {
    const outer = temporaryFolder()
    const folder = join(outer, 'apps/small')
    cpSync(application.folder, folder, { recursive: true })
    rmSync(join(folder, '.git'), { recursive: true })
    cpSync(join(application.folder, '.git'), join(outer, '.git'), { recursive: true })
    for (const args of [
      ['add', '--all'],
      ['commit', '--quiet', '--message', 'Move'],
    ])
      execFileSync('git', args, { cwd: outer })
    await move({ application: folder, ...archivesOf('2.0.0'), steps: [], print: () => {} })
    expect(execFileSync('git', ['status', '--short'], { cwd: outer, encoding: 'utf8' })).to.equal('')
  })

  it('installs into the application, even if npm workspaces contain it, or a setting turns off its own', async () => {
    const outer = temporaryFolder()
    const folder = join(outer, 'apps/small')
    cpSync(application.folder, folder, { recursive: true })
    writeFileSync(join(outer, 'package.json'), '{ "name": "outer", "workspaces": ["apps/*"] }')
    writeFileSync(join(folder, '.npmrc'), 'workspaces=false\n')
    execFileSync('git', ['add', '.npmrc'], { cwd: folder })
    execFileSync('git', ['commit', '--quiet', '--message', 'Add settings'], { cwd: folder })
    await move({ application: folder, ...archivesOf('2.0.0'), steps: [], print: () => {} })
    expect(readdirSync(outer)).to.deep.equal(['apps', 'package.json'])
    expect(readdirSync(join(folder, 'node_modules/@orderflow'))).to.include.members([
      'cli',
      'engine',
      'kit',
      'toy-service',
    ])
  })

  it('changes nothing for an old version, for an existing branch, or if a step refuses', async () => {
    for (const version of ['1.0.0', '0.9.0']) {
      expect((await refusal(upgradeTo(version))).message).to.contain(
        `have version ${version}, but the application already has version 1.0.0`,
      )
    }
    const check = () => {
      throw new UpgradeError('the log has events of version 1', { nextStep: './orderflow rebuild' })
    }
    expect(await refusal(upgradeTo('2.0.0', [{ ...rename, check }]))).to.include({ nextStep: './orderflow rebuild' })
    application.git('branch', 'upgrade-2.0.0')
    expect((await refusal(upgradeTo('2.0.0'))).message).to.equal('the branch upgrade-2.0.0 already exists')
    application.git('branch', '-D', 'upgrade-2.0.0')
    application.git('config', 'user.name', '')
    expect((await refusal(upgradeTo('2.0.0'))).message).to.match(/^Git cannot commit: .*empty ident name/s)
    expectUnchanged()
  })

  const spoilings: [problem: string, spoil: (archives: string) => void, message: RegExp][] = [
    [
      'are missing',
      (archives) => ['engine', 'kit'].forEach((name) => void rmSync(join(archives, `orderflow-${name}-2.0.0.tgz`))),
      / lacks .*: orderflow-engine-2\.0\.0\.tgz is missing, orderflow-kit-2\.0\.0\.tgz is missing$/,
    ],
    [
      'have another version',
      (archives) => renameSync(join(archives, 'orderflow-kit-2.0.0.tgz'), join(archives, 'orderflow-kit-3.0.0.tgz')),
      /: orderflow-kit-2\.0\.0\.tgz is missing$/,
    ],
    [
      'contain another package',
      (archives) => {
        cpSync(join(archives, 'orderflow-kit-2.0.0.tgz'), join(archives, 'orderflow-engine-2.0.0.tgz'))
      },
      /: orderflow-engine-2\.0\.0\.tgz contains @orderflow\/kit 2\.0\.0$/,
    ],
    [
      'are incomplete',
      (archives) => truncateSync(join(archives, 'orderflow-engine-2.0.0.tgz'), 100),
      /: orderflow-engine-2\.0\.0\.tgz is unreadable$/,
    ],
  ]
  for (const [problem, spoil, message] of spoilings) {
    it(`changes nothing if archives ${problem}, and names them`, async () => {
      const given = archivesOf('2.0.0')
      spoil(given.archives)
      const refused = await refusal(upgradeWith(given))
      expect(refused.message).to.match(message)
      expect(refused.nextStep).to.contain('make -C tools packages VERSION=2.0.0')
      expectUnchanged()
    })
  }

  it('installs archives that are already in the folder of the old ones', async () => {
    const given = archivesOf('2.0.0')
    const vendor = join(application.folder, 'vendor')
    for (const name of readdirSync(vendor)) rmSync(join(vendor, name))
    for (const name of ['cli', 'engine', 'kit']) {
      cpSync(join(given.archives, `orderflow-${name}-2.0.0.tgz`), join(vendor, `orderflow-${name}-2.0.0.tgz`))
    }
    application.commit()
    await upgradeWith({ ...given, archives: vendor })
    expect(readdirSync(vendor)).to.have.length(3)
  })

  it('names the step that failed, and a command that goes back', async () => {
    const change = () => {
      writeFileSync(join(application.folder, 'half.txt'), '')
      throw new Error('services.json has no topics')
    }
    const { message, nextStep } = await refusal(upgradeTo('2.0.0', [{ ...rename, change }]))
    expect(message).to.equal('“Rename the setting Web.Hosts” failed: services.json has no topics')
    expect(nextStep).to.match(/^go back, correct the cause, and upgrade again\./)
    goBack(nextStep)
    expect(existsSync(join(application.folder, 'half.txt'))).to.equal(false)
  })

  it('names the way back if npm fails, and leaves no record of a complete installation', async () => {
    const records = ['.installed-lock.json', '.package-lock.json'].map((name) => {
      return join(application.folder, 'node_modules', name)
    })
    for (const record of records) writeFileSync(record, '{}')
    writeFileSync(join(application.folder, '.npmrc'), 'engine-strict=true\n')
    application.commit()
    const { message, nextStep } = await refusal(upgradeWith(archivesOf('2.0.0', { node: '>=1000' })))
    expect(message).to.match(/^“Update the packages to 2\.0\.0” failed: npm install failed .*EBADENGINE/s)
    goBack(nextStep)
    expect(records.filter((record) => existsSync(record))).to.deep.equal([])
  })

  it('names the way back if the new version cannot generate files', async () => {
    writeFileSync(join(application.folder, 'orderflow'), '#!/bin/sh\necho "services.json has no topics" >&2\nexit 1\n')
    application.commit()
    const { message, nextStep } = await refusal(upgradeTo('2.0.0'))
    expect(message).to.match(/^“Generate files with 2\.0\.0” failed: .*services\.json has no topics/s)
    goBack(nextStep)
  })

  it('keeps the branch if the tests of the application fail, and names the next step', async () => {
    writeFileSync(join(application.folder, 'broken'), '')
    application.commit()
    const { message, nextStep } = await refusal(upgradeTo('2.0.0'))
    expect(message).to.match(/^“make test” failed: exit code 2$/)
    expect(nextStep).to.match(/^correct the cause on the branch upgrade-2\.0\.0, and run make test again\./)
    goBack(nextStep)
  })

  it('names the way back after Ctrl-C', async () => {
    writeFileSync(join(application.folder, 'Makefile'), 'test:\n\t@echo waiting\n\t@sleep 60\n')
    application.commit()
    const { archives, cli } = archivesOf('2.0.0')
    cpSync(join(packageFolder, 'src'), join(cli, 'src'), { recursive: true })
    const program = join(cli, 'src/upgrade/main.ts')
    const child = spawn(process.execPath, [program, application.folder, archives], { detached: true, stdio: 'pipe' })
    const ended = once(child, 'close')
    let stderr = ''
    child.stderr.on('data', (text) => {
      stderr += text
    })
    child.stdout.on('data', (text) => {
      if (String(text).includes('waiting')) process.kill(-(child.pid ?? 0), 'SIGINT')
    })
    await ended
    expect(stderr).to.match(/^error: “make test” failed:/m)
    goBack(stderr)
  })

  it('installs the newest version of the registry, or the requested version', async () => {
    const registry = await startRegistry()
    const specs = { '@orderflow/cli': '^1.0.0' }
    writeFileSync(join(application.folder, 'package.json'), JSON.stringify({ name: 'small', dependencies: specs }))
    writeFileSync(join(application.folder, '.npmrc'), `registry=${registry.url}\n`)
    application.commit()
    const temporary = temporaryFolder()
    const newest = await newCli(application.folder, undefined, temporary)
    expect(newest).to.deep.equal({ archive: join(temporary, 'orderflow-cli-1.5.0.tgz') })
    expect((await newCli(application.folder, '1.0.0', temporary)).archive).to.match(/orderflow-cli-1\.0\.0\.tgz$/)
    expect((await refusal(newCli(application.folder, '7.0.0', temporary))).message).to.contain('7.0.0')

    execFileSync('tar', ['-xzf', newest.archive, '-C', temporary])
    const cli = join(temporary, 'package')
    await move({ application: application.folder, archives: undefined, cli, steps: [], print: () => {} })
    expect(JSON.parse(read('package.json')).dependencies).to.deep.equal({ '@orderflow/cli': '^1.5.0' })
    expect(read('generated.txt')).to.contain('1.5.0')
    registry.close()
  })
})

/** Starts a registry with the versions 1.0.0 and 1.5.0 of @orderflow/cli. */
async function startRegistry(): Promise<{ url: string; close: () => void }> {
  const archives = new Map<string, string>(
    ['1.0.0', '1.5.0'].map((version) => {
      return [`/${version}.tgz`, join(archivesOf(version).archives, `orderflow-cli-${version}.tgz`)] as const
    }),
  )
  const server = createServer(({ url = '', headers }, response) => {
    const file = archives.get(url)
    if (file !== undefined) return response.end(readFileSync(file))
    const name = '@orderflow/cli'
    const versions = ['1.0.0', '1.5.0'].map((version) => {
      return [version, { name, version, dist: { tarball: `http://${headers.host}/${version}.tgz` } }]
    })
    return response.end(
      JSON.stringify({ name, 'dist-tags': { latest: '1.5.0' }, versions: Object.fromEntries(versions) }),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() }
}
