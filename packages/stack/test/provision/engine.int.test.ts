import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { repository, versions } from '../../src/application/paths.ts'
import { hashes } from '../../src/provision/build.ts'
import { composeModule } from '../../src/provision/engine.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

/** A fake docker. Its command `compose` runs the plugin in DOCKER_CONFIG. */
const docker = `#!/bin/sh
case $1 in
  version) [ -z "$DOCKER_HOST" ] && echo 99.0 || { echo "Cannot connect to $DOCKER_HOST" >&2; exit 1; } ;;
  compose) exec "$DOCKER_CONFIG/cli-plugins/docker-compose" ;;
esac
`

/** A fake outdated Go. It builds a working plugin only if it may download a newer Go. */
const go = `#!/bin/sh
[ "$1" = version ] || [ "$GOTOOLCHAIN" = auto ] || { echo 'go.mod requires go >= 1.26' >&2; exit 1; }
case $1 in
  version) echo 'go version go1.21.0 linux/amd64' ;;
  mod) echo '{ "Dir": "/", "Sum": "${hashes[composeModule]}" }' ;;
  build)
    while [ "$1" != -o ]; do shift; done
    printf '#!/bin/sh\\necho Docker Compose version built\\n' > "$2"
    chmod +x "$2" ;;
esac
`

describe('./orderflow engine', () => {
  let folder: string
  let plugin: string

  const engine = (env: Record<string, string> = {}) => run('engine', env)
  function run(command: string, env: Record<string, string>) {
    const cli = join(repository, 'packages/cli/src/cli.ts')
    const variables = {
      HOME: folder,
      GOTOOLCHAIN: 'local',
      DOCKER_CONFIG: join(folder, 'docker'),
      ORDERFLOW_CACHE: join(folder, 'cache'),
    }
    const path = `${join(folder, 'bin')}:/usr/bin:/bin`
    return new Promise<{ code: number; output: string }>((resolve) => {
      execFile(process.execPath, [cli, command], { env: { PATH: path, ...variables, ...env } }, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), output: out + err }),
      )
    })
  }
  function script(file: string, content: string): void {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    chmodSync(file, 0o755)
  }

  beforeEach(() => {
    folder = temporaryFolder()
    plugin = join(folder, 'docker/cli-plugins/docker-compose')
    script(join(folder, 'bin/docker'), docker)
    script(join(folder, 'bin/go'), go)
  })
  afterEach(removeFolders)

  it('reports the versions if an engine and Compose already work', async () => {
    script(plugin, '#!/bin/sh\necho Docker Compose version mine\n')
    const { code, output } = await engine()
    expect({ code, output }).to.deep.equal({ code: 0, output: 'Docker engine 99.0, Docker Compose version mine\n' })
    expect(existsSync(join(folder, 'cache'))).to.equal(false)
  })

  it('refuses to start an engine if DOCKER_HOST is the address of an engine', async () => {
    const { code, output } = await engine({ DOCKER_HOST: 'tcp://127.0.0.1:1' })
    expect(code).to.equal(1)
    expect(output).to.contain('error: no Docker engine answers: Cannot connect to tcp://127.0.0.1:1')
    expect(output).to.contain('(DOCKER_HOST is tcp://127.0.0.1:1)\nnext: start or install Docker')
  })

  it('appears as the next step of `make up STACK=docker` if Docker or Compose is missing', async () => {
    const noEngine = await run('up', { STACK: 'docker', DOCKER_HOST: 'tcp://127.0.0.1:1' })
    expect(noEngine).to.deep.equal({
      code: 1,
      output:
        'error: no Docker engine answers: Cannot connect to tcp://127.0.0.1:1\nnext: ./orderflow engine, or make up STACK=local\n',
    })
    const noCompose = await run('up', { STACK: 'docker' })
    expect(noCompose.output).to.contain('error: docker has no compose command\nnext: ./orderflow engine')
    expect(existsSync(plugin)).to.equal(false)
  })

  it('builds Compose once and links it into this user’s plugins', async () => {
    const first = await engine()
    expect(first.output).to.match(
      /building from source[\s\S]*ready\nDocker engine 99.0, Docker Compose version built\n$/,
    )
    expect(readlinkSync(plugin)).to.equal(join(folder, `cache/compose-${versions.compose}/docker-compose`))
    expect((await engine()).output).to.equal('Docker engine 99.0, Docker Compose version built\n')
  })

  it('replaces a link to a missing plugin, but never an existing plugin', async () => {
    mkdirSync(dirname(plugin), { recursive: true })
    symlinkSync('/gone', plugin)
    expect((await engine()).code).to.equal(0)
    const broken = '#!/bin/sh\nexit 1\n'
    script(readlinkSync(plugin), broken)
    const { code, output } = await engine()
    expect(code).to.equal(1)
    expect(output).to.contain(`error: docker compose does not work, although ${plugin} exists`)
    expect(readFileSync(plugin, 'utf8')).to.equal(broken)
  })
})
