import { rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { newCli, requireCleanBranch, requireGenerated, unpack } from '../../src/upgrade/upgrade.ts'
import { removeFolders, temporaryFolder } from '../support.ts'
import { archivesOf, smallApplication } from './small-application.ts'

describe('./orderflow upgrade', () => {
  afterEach(removeFolders)

  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => 'no refusal',
      ({ message, nextStep }) => `${message}; ${nextStep}`,
    )

  it('accepts an application without uncommitted changes', async () => {
    expect(await refusal(requireCleanBranch(smallApplication().folder))).to.equal('no refusal')
  })

  it('refuses an application outside a Git repository', async () => {
    expect(await refusal(requireCleanBranch(temporaryFolder()))).to.match(/is outside a Git repository.*; git init/)
  })

  it('refuses uncommitted changes and new files, and names them', async () => {
    const { folder } = smallApplication()
    writeFileSync(join(folder, 'Makefile'), 'test:\n')
    writeFileSync(join(folder, 'notes.txt'), '')
    expect(await refusal(requireCleanBranch(folder))).to.match(
      /these changes are not committed:\n M Makefile\n\?\? notes.txt; commit them/,
    )
  })

  it('refuses to start without a branch', async () => {
    const { folder, git } = smallApplication()
    git('switch', '--quiet', '--detach')
    expect(await refusal(requireCleanBranch(folder))).to.match(/^no branch is checked out; git switch main/)
  })

  it('refuses to lose changes of generated files, names them, and states where such changes belong', async () => {
    requireGenerated([])
    const refused = await refusal((async () => requireGenerated(['docker-compose.yml', 'Dockerfile']))())
    expect(refused).to.match(/lose changes of generated files.*: docker-compose\.yml, Dockerfile; move your changes/)
    expect(refused).to.contain('docker-compose.override.yml').and.to.contain('make generate')
  })

  it('finds the archive of the new commands in a folder of archives', async () => {
    const { archives } = archivesOf('2.0.0')
    const found = await newCli(smallApplication().folder, archives, '')
    expect(found).to.deep.equal({ archive: join(archives, 'orderflow-cli-2.0.0.tgz'), folder: archives })
  })

  it('refuses a folder without exactly one version of the packages', async () => {
    const { folder } = smallApplication()
    expect(await refusal(newCli(folder, undefined, ''))).to.match(
      /^the folder of the new packages is missing; run make/,
    )
    const { archives } = archivesOf('2.0.0')
    writeFileSync(join(archives, 'orderflow-cli-3.0.0.tgz'), '')
    expect(await refusal(newCli(folder, archives, ''))).to.contain('but has several; run make -C tools packages')
    rmSync(archives, { recursive: true })
    expect(await refusal(newCli(folder, archives, ''))).to.contain('but has none; run make -C tools packages')
  })

  it('names the next step if the archive of the new commands is damaged', async () => {
    const { archives } = archivesOf('2.0.0')
    const archive = join(archives, 'orderflow-cli-2.0.0.tgz')
    truncateSync(archive, 100)
    expect(await refusal(unpack(archive, archives))).to.match(
      /cli-2\.0\.0\.tgz cannot be unpacked: .*; run make -C tools packages/s,
    )
  })

  it('refuses a repository that does not install the packages', async () => {
    const { folder } = smallApplication()
    writeFileSync(join(folder, 'package.json'), '{}')
    expect(await refusal(newCli(folder, undefined, ''))).to.match(
      /does not depend on @orderflow\/cli; run this in an app/,
    )
  })
})
