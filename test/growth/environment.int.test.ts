import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder, repository } from '@orderflow/stack/base'
import { ownPackages } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import { copyRepository, type RepositoryCopy } from '../support/checkouts/repository-copy.ts'

const unitTest = 'packages/stack/test/kafka/kafka-connection.unit.test.ts'

describe('the commands `make` and `packages/cli/node` in unusual environments', () => {
  let copy: RepositoryCopy
  let usual: NodeJS.ProcessEnv
  let expected: Awaited<ReturnType<typeof outcomes>>
  before(async () => {
    copy = copyRepository()
    const { PATH = '', HOME } = process.env
    // Removes the additions of packages/cli/node to this process’s PATH.
    const own = (path: string) => path.startsWith(cacheFolder()) || path.endsWith('node_modules/.bin')
    usual = {
      PATH: PATH.split(delimiter)
        .filter((path) => !own(path))
        .join(delimiter),
      HOME,
    }
    // A folder that CDPATH would find, and a script that must never run.
    mkdirSync(join(copy.folder, 'decoy/stack'), { recursive: true })
    mkdirSync(join(copy.folder, 'a folder'))
    writeFileSync(join(copy.folder, 'decoy/script'), 'echo noise; cd /; set -f; trap "exit 3" EXIT\n')
    expected = await outcomes(usual)
    expect(expected).to.include({ unit: '0 3 passed, 0 failed' })
    expect(expected.status).to.equal('0 stopped; `make up` starts it\n')
  })
  after(() => copy?.remove())

  async function run(env: NodeJS.ProcessEnv, command: string, ...args: string[]) {
    return await promisify(execFile)(command, args, { cwd: copy.folder, env }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout, message }) => ({ code, stdout: stdout || message }),
    )
  }
  async function outcomes(env: NodeJS.ProcessEnv) {
    const [status, unit] = await Promise.all([
      run(env, 'make', '--no-print-directory', 'status'),
      run(env, 'packages/cli/node', 'node_modules/.bin/mocha', unitTest),
    ])
    return {
      status: `${status.code} ${status.stdout}`,
      unit: `${unit.code} ${/\d+ passed, \d+ failed/.exec(unit.stdout)?.[0] ?? unit.stdout}`,
    }
  }

  /** Variables that change the behaviour of bash, make, Node, npm and git. */
  const variables: [name: string, value: string | undefined][] = [
    ['HOME', undefined],
    ['HOME', ''],
    ['CDPATH', 'decoy'],
    ['BASH_ENV', 'decoy/script'],
    ['ENV', 'decoy/script'],
    ['BASH_FUNC_cd%%', '() { echo a function; }'],
    ['BASH_FUNC_node%%', '() { echo a function; }'],
    ['SHELLOPTS', 'noexec:noglob'],
    ['BASHOPTS', 'nocasematch:failglob'],
    ['GLOBIGNORE', '*'],
    ['IFS', '/ns'],
    ['POSIXLY_CORRECT', '1'],
    ['TAR_OPTIONS', '--strip-components=1'],
    ['GREP_OPTIONS', '--invert-match'],
    ['GREP_COLORS', 'mt=01;31'],
    ['LC_ALL', 'tr_TR.UTF-8'],
    ['LC_ALL', 'C'],
    ['LANG', 'no-such-locale'],
    ['TMPDIR', '/no/such/folder'],
    ['TMPDIR', 'a folder'],
    ['XDG_CACHE_HOME', 'not/absolute'],
    ['MAKEFLAGS', '-j4 -k'],
    ['MAKEFLAGS', 'w --warn-undefined-variables'],
    ['MAKELEVEL', '1'],
    ['NODE_OPTIONS', '--require /no/such/file.cjs'],
    ['NODE_OPTIONS', '--no-such-option'],
    ['NODE_OPTIONS', '--no-strip-types'],
    ['NODE_OPTIONS', '--preserve-symlinks'],
    ['NODE_OPTIONS', '--disallow-code-generation-from-strings'],
    ['NODE_OPTIONS', '--permission'],
    ['NODE_OPTIONS', '--max-old-space-size=1000 --dns-result-order=ipv4first'],
    ['NODE_PRESERVE_SYMLINKS', '1'],
    ['NODE_PATH', '/no/such/folder'],
    ['NODE_ENV', 'production'],
    ['NODE_EXTRA_CA_CERTS', '/no/such/file.pem'],
    ['NODE_PENDING_DEPRECATION', '1'],
    ['NODE_DEBUG', 'module'],
    ['NODE_COMPILE_CACHE', 'package.json'],
    ['npm_config_omit', 'dev'],
    ['npm_config_global', 'true'],
    ['GIT_DIR', '/no/such/folder'],
    ['GIT_WORK_TREE', '/no/such/folder'],
    ['GIT_INDEX_FILE', '/no/such/file'],
  ]
  for (const [name, value] of variables) {
    it(`behaves as usual ${value === undefined ? `without ${name}` : `with ${name}=${value}`}`, async () => {
      const env = { ...usual, [name]: value }
      expect(await outcomes(env)).to.deep.equal(expected)
    })
  }

  it('lets git find the repository of the current folder, even in a git hook', async () => {
    const local = await run(usual, 'git', 'rev-parse', '--local-env-vars')
    const names = local.stdout.trim().split('\n')
    expect(names).to.include('GIT_DIR')
    // Git keeps the settings of the caller, such as safe.directory.
    const kept = ['GIT_CONFIG', 'GIT_CONFIG_PARAMETERS', 'GIT_CONFIG_COUNT']
    const env = Object.fromEntries(names.map((name: string) => [name, 'x']))
    const { stdout } = await run(
      { ...usual, ...env },
      'packages/cli/node',
      '-p',
      'JSON.stringify(Object.keys(process.env))',
    )
    expect(JSON.parse(stdout).filter((name: string) => names.includes(name))).to.have.members(kept)
  })

  it('keeps the variables for networks and debuggers', async () => {
    const network = {
      npm_config_registry: 'https://registry.example',
      npm_config_cafile: '/ca.pem',
      npm_config_userconfig: '/npmrc',
      HTTPS_PROXY: 'http://proxy.example',
      NODE_USE_ENV_PROXY: '1',
      NODE_OPTIONS: '--use-openssl-ca',
    }
    const valuesOf = async (env: object) => {
      const names = Object.keys(env)
      const script = `JSON.stringify(Object.fromEntries(${JSON.stringify(names)}.map((name) => [name, process.env[name]])))`
      return JSON.parse((await run({ ...usual, ...env }, 'packages/cli/node', '-p', script)).stdout)
    }
    expect(await valuesOf(network)).to.deep.equal(network)
    const debugged = {
      NODE_OPTIONS: `--require ${join(copy.folder, 'decoy/empty.cjs')}`,
      VSCODE_INSPECTOR_OPTIONS: '{}',
    }
    writeFileSync(join(copy.folder, 'decoy/empty.cjs'), '')
    expect(await valuesOf(debugged)).to.deep.equal(debugged)
  })

  it('excludes loopback from the proxies of the environment, and keeps the other exceptions', async () => {
    const script = 'JSON.stringify([process.env.no_proxy, process.env.NO_PROXY])'
    const exceptions = async (env: object) =>
      JSON.parse((await run({ ...usual, ...env }, 'packages/cli/node', '-p', script)).stdout)
    const loopback = 'localhost,127.0.0.1,::1,[::1]'
    expect(await exceptions({})).to.deep.equal([loopback, loopback])
    const own = `corp.example,${loopback}`
    expect(await exceptions({ no_proxy: 'corp.example' })).to.deep.equal([own, own])
    expect(await exceptions({ NO_PROXY: own, no_proxy: '*' })).to.deep.equal(['*', own])
  })

  it('starts every bash script of this repository with a shell that ignores the environment', () => {
    const scripts = [
      'packages/cli/node',
      '.ci/run',
      'packages/stack/templates/release-image/start',
      'docs/examples/curl/publish.sh',
      'docs/examples/kcat/publish.sh',
    ]
    for (const script of scripts) {
      const [first] = readFileSync(join(repository, script), 'utf8').split('\n')
      expect(first, script).to.equal('#!/usr/bin/env -S bash -p')
    }
  })

  it('installs all packages at the first run, even if npm’s settings exclude some', async () => {
    const npm = async (name: string) => (await run(process.env, 'npm', 'config', 'get', name)).stdout.trim()
    const [cache, userconfig] = [await npm('cache'), await npm('userconfig')]
    for (const path of ['node_modules', ...ownPackages()]) {
      rmSync(join(copy.folder, path), { recursive: true, force: true })
    }
    const settings = join(copy.folder, 'decoy/npmrc')
    const own = existsSync(userconfig) ? readFileSync(userconfig, 'utf8') : ''
    writeFileSync(settings, `${own}\nomit=dev\nomit=optional\nbin-links=false\nglobal=true\n`)
    const network = Object.entries(process.env).filter(([name]) =>
      /^(npm_config_(?!omit)|https?_proxy|no_proxy|NODE_EXTRA_CA|SSL_)/i.test(name),
    )
    const env = {
      ...usual,
      ...Object.fromEntries(network),
      npm_config_cache: cache,
      npm_config_prefer_offline: 'true',
      npm_config_userconfig: settings,
      NODE_ENV: 'production',
      NODE_OPTIONS: '--require /no/such/file.cjs',
      CDPATH: 'decoy',
      npm_config_omit: 'dev',
      npm_config_only: 'production',
      npm_config_production: 'true',
      NPM_CONFIG_GLOBAL: 'true',
      npm_config_dry_run: 'true',
      npm_config_package_lock_only: 'true',
      npm_config_bin_links: 'false',
      npm_config_workspace: 'order-service',
      npm_config_os: 'win32',
      npm_config_cpu: 'arm64',
      npm_config_install_strategy: 'nested',
      npm_config_legacy_peer_deps: 'true',
      npm_config_version: 'true',
    }
    expect(await outcomes(env)).to.deep.equal(expected)
    const packages = (await run(usual, 'packages/cli/node', '-p', "require('esbuild').version")).stdout
    expect(packages).to.match(/^\d/)
  })
})
