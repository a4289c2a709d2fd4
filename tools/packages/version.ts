/** `make -C tools version VERSION=X.Y.Z` writes, commits and tags a version. It pushes nothing. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError, reportError, repository, runTool } from '@orderflow/stack/base'

const run = (command: string, ...args: string[]) => runTool(command, args, { cwd: repository })
const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const write = (file: string, text: string) => writeFileSync(join(repository, file), text)

const manifests = '{.,*,packages/*,tools/*}/package.json'

async function main(version: string): Promise<void> {
  const { version: previous } = JSON.parse(read('package.json')) as { version: string }
  await requireReady(version, previous)
  for (const file of globSync(manifests, { cwd: repository })) write(file, withVersion(read(file), previous, version))
  const guide = 'envelope-schema/README.md'
  write(guide, read(guide).replaceAll(`-${previous}.tgz`, `-${version}.tgz`))
  // The AsyncAPI document contains the version.
  await run('./orderflow', 'generate')
  await run('npm', 'install', '--package-lock-only')
  const date = new Date().toISOString().slice(0, 10)
  write(
    'CHANGELOG.md',
    read('CHANGELOG.md').replace('\n## Unreleased\n', `\n## Unreleased\n\n## ${version} - ${date}\n`),
  )
  await run('git', 'commit', '--quiet', '--all', '--message', `Release ${version}`)
  await run('git', 'tag', '--annotate', `v${version}`, '--message', version)

  const commit = (await run('git', 'rev-parse', 'HEAD')).trim()
  const releases = JSON.parse(read('releases.json')) as object[]
  write('releases.json', `${JSON.stringify([...releases, { version, commit, date }], null, 2)}\n`)
  await run('git', 'commit', '--quiet', '--all', '--message', `Record the commit of release ${version}`)
  console.log(`v${version} is committed and tagged; next: the tests of CONTRIBUTING.md, then git push --follow-tags`)
}

const withVersion = (manifest: string, previous: string, version: string) =>
  manifest.replaceAll(/("version"|"@orderflow\/[\w-]+"): "([^"]+)"/g, (line, key, found) =>
    found === previous ? `${key}: "${version}"` : line,
  )

/** @throws {CliError} `usage` */
async function requireReady(version: string, previous: string): Promise<void> {
  const fail = (message: string, nextStep: string) => {
    throw new CliError('usage', message, { nextStep })
  }
  if (!/^\d+\.\d+\.\d+$/.test(version) || version.localeCompare(previous, 'en', { numeric: true }) <= 0)
    fail(`VERSION=${version} is not a version after ${previous}`, `set VERSION, for example to the next minor version`)
  if ((await run('git', 'status', '--porcelain')) !== '') fail('there are uncommitted changes', 'commit them first')
  const [, unreleased = ''] = /\n## Unreleased\n(.*?)\n## \d/s.exec(read('CHANGELOG.md')) ?? []
  if (unreleased.trim() === '') fail('CHANGELOG.md has no unreleased changes', 'describe the changes under Unreleased')
  if (!unreleased.includes(`### Upgrade steps from ${previous}\n`))
    fail(
      `CHANGELOG.md lacks the title "Upgrade steps from ${previous}"`,
      'list below the title what users must do, or that they need no steps',
    )
}

try {
  await main(process.argv[2] ?? '')
} catch (error) {
  reportError(error)
}
