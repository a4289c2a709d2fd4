import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { CliError } from '../../src/lib/error.ts'
import { move } from '../../src/upgrade/move.ts'
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

describe('an upgrade', () => {
  let application: SmallApplication
  let printed: string[]
  beforeEach(() => {
    application = smallApplication()
    printed = []
  })
  afterEach(removeFolders)

  const upgradeTo = (version: string, steps: Step[] = []) =>
    move({
      application: application.folder,
      ...archivesOf(version),
      steps,
      print: (text) => void printed.push(text),
    })
  const refusal = (work: Promise<unknown>): Promise<CliError> =>
    work.then(
      () => expect.fail('no refusal'),
      (error) => error,
    )
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

  it('changes nothing for an old version, for an existing branch, or if a step refuses', async () => {
    for (const version of ['1.0.0', '0.9.0']) {
      expect((await refusal(upgradeTo(version))).message).to.contain(
        `have version ${version}, but the application already has version 1.0.0`,
      )
    }
    const check = () => {
      throw new CliError('usage', 'the log has events of version 1', { nextStep: './orderflow rebuild' })
    }
    expect(await refusal(upgradeTo('2.0.0', [{ ...rename, check }]))).to.include({ nextStep: './orderflow rebuild' })
    application.git('branch', 'upgrade-2.0.0')
    expect((await refusal(upgradeTo('2.0.0'))).message).to.equal('the branch upgrade-2.0.0 already exists')
    expect(application.git('branch', '--show-current')).to.equal('main')
    expect(application.git('status', '--short')).to.equal('')
    expect(printed).to.deep.equal([])
  })

  it('names the step that failed, and a command that goes back', async () => {
    const change = () => {
      writeFileSync(join(application.folder, 'half.txt'), '')
      throw new Error('services.json has no topics')
    }
    const { message, nextStep = '' } = await refusal(upgradeTo('2.0.0', [{ ...rename, change }]))
    expect(message).to.equal('“Rename the setting Web.Hosts” failed: services.json has no topics')
    const [, command = ''] = /^correct the cause on the branch upgrade-2\.0\.0, or go back: (.*)$/.exec(nextStep) ?? []
    execFileSync('sh', ['-c', command], { cwd: application.folder, stdio: 'pipe' })
    expect(application.git('status', '--short', '--branch')).to.equal('## main')
    expect(application.git('branch')).to.equal('* main')
    expect(existsSync(join(application.folder, 'half.txt'))).to.equal(false)
    expect(read('package.json')).to.contain('orderflow-cli-1.0.0.tgz')
  })

  it('fails if the tests of the application fail', async () => {
    writeFileSync(join(application.folder, 'broken'), '')
    application.commit()
    expect((await refusal(upgradeTo('2.0.0'))).message).to.match(/^“make test” failed: exit code 2$/)
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
