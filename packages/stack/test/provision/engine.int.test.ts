import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

/** A fake docker. Its command `compose` runs the plugin in DOCKER_CONFIG. */
const docker = `#!/bin/sh
case $1 in
  version) [ -z "$DOCKER_HOST" ] && echo 99.0 || { echo "Cannot connect to $DOCKER_HOST" >&2; exit 1; } ;;
  compose) exec "$DOCKER_CONFIG/cli-plugins/docker-compose" ;;
esac
`

/** A fake apt-get. It prints its arguments and the list of sources that they name, and installs a working plugin. */
const aptGet = `#!/bin/sh
[ "$1" = indextargets ] && { echo http://mirror.example/debian/; exit; }
echo "$*" >> "$HOME/apt"
for argument; do case $argument in Dir::Etc::sourcelist=*) cat "\${argument#*=}" >> "$HOME/apt" ;; esac; done
mkdir -p "$DOCKER_CONFIG/cli-plugins"
printf '#!/bin/sh\necho Docker Compose version installed\n' > "$DOCKER_CONFIG/cli-plugins/docker-compose"
chmod +x "$DOCKER_CONFIG/cli-plugins/docker-compose"
`

describe('./orderflow engine', () => {
  let folder: string
  let plugin: string

  const engine = (env: Record<string, string> = {}) => run('engine', env)
  function run(command: string, env: Record<string, string>) {
    const cli = join(repository, 'packages/cli/src/cli.ts')
    const variables = {
      HOME: folder,
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
    script(join(folder, 'bin/apt-get'), aptGet)
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

  it('installs Compose once as root, on Debian 12 from Debian 13, and otherwise names the documentation', async () => {
    const first = await engine()
    if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
      expect(first.output).to.match(/^error: docker has no compose command\nnext: start or install Docker/)
      return
    }
    expect(first.output).to.match(
      /compose: installing with apt-get\nDocker engine 99.0, Docker Compose version installed\n$/,
    )
    const calls = readFileSync(join(folder, 'apt'), 'utf8')
    expect(calls).to.match(/update -q\n[\s\S]*install -y -q --no-install-recommends docker-compose(-v2)?\n/)
    const isBookworm = readFileSync('/etc/os-release', 'utf8').includes('VERSION_CODENAME=bookworm')
    expect(calls.includes('deb http://mirror.example/debian/ trixie main\n')).to.equal(isBookworm)
    expect((await engine()).output).to.equal('Docker engine 99.0, Docker Compose version installed\n')
    expect(readFileSync(join(folder, 'apt'), 'utf8')).to.equal(calls)
  })

  it('never replaces an existing plugin that fails', async () => {
    const broken = '#!/bin/sh\nexit 1\n'
    script(plugin, broken)
    script(join(folder, 'bin/apt-get'), '#!/bin/sh\n[ "$1" != indextargets ] || echo http://mirror.example/debian/\n')
    const { code, output } = await engine()
    expect(code).to.equal(1)
    expect(output).to.match(/error: (docker does not use the installed Compose|docker has no compose command)\nnext: /)
    expect(readFileSync(plugin, 'utf8')).to.equal(broken)
  })
})
