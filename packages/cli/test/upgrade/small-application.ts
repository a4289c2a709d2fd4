import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../support.ts'

const programs = { dapr: '1.18.2', kafka: '4.3.1', node: '24.21.0' }

/** Returns a folder with the archives of a version. @orderflow/kit is new in version 2.0.0, and @orderflow/cli needs it. */
export function archivesOf(version: string, engines = {}): { archives: string; cli: string } {
  const archives = temporaryFolder()
  const dependencies = version === '2.0.0' ? { '@orderflow/kit': version } : {}
  const cli = pack(archives, version, 'cli', { dependencies, engines })
  for (const name of ['engine', ...(version === '2.0.0' ? ['kit'] : [])]) pack(archives, version, name, {})
  return { archives, cli }
}

function pack(archives: string, version: string, name: string, fields: object): string {
  const folder = join(archives, name)
  write(folder, 'package/package.json', { name: `@orderflow/${name}`, version, type: 'module', ...fields })
  write(folder, 'package/versions.json', { ...programs, dapr: version === '2.0.0' ? '1.19.0' : programs.dapr })
  execFileSync('tar', ['-czf', join(archives, `orderflow-${name}-${version}.tgz`), '-C', folder, 'package'])
  return join(folder, 'package')
}

export interface SmallApplication {
  folder: string
  git: (...args: string[]) => string
  commit: () => void
}

/** Creates a Git repository with two packages of version 1.0.0, and fakes of `./orderflow generate` and `make test`. */
export function smallApplication(): SmallApplication {
  const folder = temporaryFolder()
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim()
  const commit = () => {
    git('add', '--all')
    git('commit', '--quiet', '--message', 'Create the application')
  }
  const { archives, cli } = archivesOf('1.0.0')
  for (const name of ['cli', 'engine']) {
    const archive = `orderflow-${name}-1.0.0.tgz`
    cpSync(join(archives, archive), join(folder, 'vendor', archive), { recursive: true })
  }
  write(folder, 'package.json', {
    name: 'small',
    workspaces: ['*-service'],
    dependencies: { '@orderflow/cli': 'file:vendor/orderflow-cli-1.0.0.tgz' },
  })
  write(folder, 'toy-service/package.json', {
    name: '@orderflow/toy-service',
    version: '1.0.0',
    dependencies: { '@orderflow/engine': 'file:../vendor/orderflow-engine-1.0.0.tgz' },
  })
  write(folder, '.gitignore', 'node_modules/\n')
  write(folder, 'orderflow', `#!/bin/sh\ngrep '"version"' node_modules/@orderflow/cli/package.json >generated.txt\n`)
  chmodSync(join(folder, 'orderflow'), 0o755)
  write(folder, 'Makefile', 'test:\n\t@test ! -e broken\n')
  cpSync(cli, join(folder, 'node_modules/@orderflow/cli'), { recursive: true })
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@orderflow.example')
  commit()
  return { folder, git, commit }
}

export function write(folder: string, path: string, content: string | object): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`)
}
