import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect } from 'chai'
import { CliError } from '../../src/base/error.ts'
import { createRegistry } from '../../src/release/platform/registry.ts'
import { openJournal } from '../../src/release/record.ts'
import { release } from '../../src/release/release.ts'
import { contextFor, digestOf, type FakePlatform, startFakePlatform } from './support/fake-platform.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const [ours, others] = [digestOf('a'), digestOf('b')]

/** A fake docker with one named image. The file `name` has the id of this image, and the file `pushed` has the id of the pushed image. */
const docker = `#!/bin/bash
cd "$(dirname "$0")"
command=$1
named() { cat "$1" 2>/dev/null || echo "$1"; }
echo "$*" >>calls
case $command in
  version) echo 28 ;;
  build)
    echo '${ours}' >name
    while [ $# -gt 0 ]; do
      [ "$1" = --iidfile ] && printf '%s' '${ours}' >"$2"
      shift
    done ;;
  tag) echo "$2" >name ;;
  push) cp name pushed ;;
  image)
    for last; do :; done
    case $last in sha256:*) id=$last ;; *) id=$(cat name) ;; esac
    facts='{"Id":"'$id'","Os":"linux","Architecture":"amd64","Size":1,"Config":{"User":"10001","Labels":null}}'
    if [ "$3" = --format ]; then echo "$facts"; else echo "[$facts]"; fi ;;
  inspect) case $3 in *ExitCode*) echo 0 ;; *) echo true ;; esac ;;
esac
[ ! -e "after-$command" ] || . "./after-$command"
`

const settings = {
  Stream__Brokers: 'a.example.com:9093',
  Stream__SaslUsername: 'me',
  Stream__SaslPassword: 'secret',
  State__ConnectionString: 'mongodb+srv://me:secret@store.example.com/',
  Trust__SigningKeys: 'secret-of-all-services-of-32-chars',
  Auth__Issuer: 'https://login.example.com',
  Auth__Audience: 'orderflow',
}

describe('a release', () => {
  const path = process.env.PATH
  let fake: FakePlatform
  let bin: string
  let folder: string
  beforeEach(async () => {
    fake = await startFakePlatform()
    folder = temporaryFolder()
    bin = join(folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'docker'), docker, { mode: 0o755 })
    process.env.PATH = `${bin}${delimiter}${path}`
  })
  afterEach(async () => {
    process.env.PATH = path
    await fake.close()
  })

  const after = (command: string, script: string) => writeFileSync(join(bin, `after-${command}`), script)
  const app = () => fake.app('my-app')
  const released = () => app().releases.at(-1)?.image?.digest

  function contextOf(replicas: number) {
    const context = contextFor(fake)
    const registry = createRegistry(context.operator, async () => {
      const digest = existsSync(join(bin, 'pushed')) ? readFileSync(join(bin, 'pushed'), 'utf8').trim() : undefined
      const mediaType = 'application/vnd.docker.distribution.manifest.v2+json'
      const text = JSON.stringify({ schemaVersion: 2, mediaType, config: { digest } })
      return { status: 200, headers: new Headers(), text }
    })
    const env = { ...settings, RELEASE_FOLDER: join(folder, 'release') }
    const journal = openJournal(context.operator.app, env)
    return { ...context, registry, env, journal, service: { ...context.service, replicas } }
  }
  const run = (replicas = 1) => release(contextOf(replicas), { dryRun: false })
  async function refusal(work: Promise<unknown>): Promise<CliError> {
    const error = await work.catch((caught: unknown) => caught)
    if (error instanceof CliError) return error
    throw new Error(`no refusal: ${error}`)
  }

  for (const command of ['build', 'stop']) {
    it(`releases the checked image even if another image gets its name after docker ${command}`, async () => {
      after(command, `echo '${others}' >name`)
      await run()
      expect(released()).to.equal(ours)
      const booted = readFileSync(join(bin, 'calls'), 'utf8').match(/^create .* (\S+)$/m)?.[1]
      expect(booted).to.equal(ours)
    })
  }

  it('releases nothing if the image in the registry differs from the checked one', async () => {
    after('push', `echo '${others}' >pushed`)
    const { code, message, nextStep } = await refusal(run())
    expect(code).to.equal('image')
    expect(message).to.include(ours).and.include(others).and.include('nothing was changed in this run')
    expect(nextStep).to.include('./orderflow release order --app my-app')
    expect(released()).to.equal(undefined)
  })

  it('changes config vars after the push, and releases the image immediately after that', async () => {
    // The platform restarts the old image with new config vars, so a push in between would extend this time.
    const steps: string[] = []
    const isPushed = () => existsSync(join(bin, 'pushed'))
    fake.answer('PATCH', /config-vars/, (_request, _response, next) => {
      steps.push(isPushed() ? 'config vars after the push' : 'config vars before the push')
      next()
    })
    fake.answer('PATCH', /formation/, (_request, _response, next) => {
      steps.push('image')
      next()
    })
    await run()
    expect(steps.slice(0, 2)).to.deep.equal(['config vars after the push', 'image'])
  })

  it('changes nothing of the app if the push fails', async () => {
    after('push', 'exit 1')
    const { message } = await refusal(run())
    expect(message).to.include('nothing was changed in this run')
    expect(app().releases.flatMap(({ configVars }) => Object.keys(configVars))).to.deep.equal([])
  })

  it('starts as many replicas as services.json declares if the release is the first one', async () => {
    await run(3)
    expect(app().quantity).to.equal(3)
    expect(app().dynos).to.have.length(3)
  })

  it('starts as many replicas as services.json declares, even after an interrupted first release', async () => {
    // The release is killed after it has released the image, and before it sets the number of processes.
    fake.answer('PATCH', /formation/, async (_request, response, next) => {
      response.json = () => response.status(402).end('{"id": "x", "message": "x"}')
      next()
    })
    await refusal(run(3))
    expect([released(), app().quantity]).to.deep.equal([ours, 1])
    await run(3)
    expect(app().quantity).to.equal(3)
  })

  it('keeps the number of processes that an operator has set', async () => {
    await run(3)
    await contextOf(3).platform.scaleWeb(2)
    await run(3)
    expect(app().quantity).to.equal(2)
  })
})
