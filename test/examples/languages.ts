import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pythonPackages } from '@orderflow/programs'
import { cacheFolder, repository, runTool } from '@orderflow/stack/base'
import { go, java, javaCommand, maven, type Provisioned, provisionTools } from '@orderflow/stack/internals'
import type { Example, Question, Verdict } from './example.ts'
import { kcatExample } from './kcat.ts'

const folderOf = (language: string) => join(repository, 'docs/examples', language)
const contentOf = (language: string, ...patterns: string[]) => {
  const hash = createHash('sha256')
  for (const file of globSync(patterns, { cwd: folderOf(language) }).sort()) {
    hash.update(file).update(readFileSync(join(folderOf(language), file)))
  }
  return join(cacheFolder(), `example-${language}-${hash.digest('hex').slice(0, 16)}`)
}

const requirements = join(folderOf('python'), 'requirements.txt')
const python = pythonPackages('example-python', requirements, 'docs/examples/python: downloading 6 MB')

const golang: Provisioned = {
  folder: contentOf('go', '*.go', 'go.*'),
  about: 'docs/examples/go: downloading and building, about a minute',
  needs: [go],
  async make(folder, { signal }) {
    const env = { GOTOOLCHAIN: 'auto', GOWORK: 'off', GOFLAGS: '-mod=readonly', CGO_ENABLED: '0' }
    await runTool('go', ['build', '-trimpath', '-o', join(folder, 'publish'), '.'], {
      cwd: folderOf('go'),
      env,
      signal,
    })
  },
}

const jvm: Provisioned = {
  folder: contentOf('java', 'pom.xml', 'src/**/*.java'),
  about: 'docs/examples/java: downloading 25 MB and building',
  needs: [java, maven],
  async make(folder, { signal }) {
    cpSync(join(folderOf('java'), 'src'), join(folder, 'src'), { recursive: true })
    copyFileSync(join(folderOf('java'), 'pom.xml'), join(folder, 'pom.xml'))
    await runTool('mvn', ['-B', '-q', '--strict-checksums', 'package'], { cwd: folder, signal })
  },
}

/**
 * Returns all examples. The first call builds the examples.
 * @throws {CliError} `tools-missing` with instructions to install the missing toolchain
 */
export async function examples(): Promise<Example[]> {
  await provisionTools([python, golang, jvm], { onProgress: console.error })
  const inPython = (program: string, ...args: string[]) => ['python3', join(folderOf('python'), program), ...args]
  const inJava = (...args: string[]) => [javaCommand(), '-jar', join(jvm.folder, 'target/publish.jar'), ...args]
  const inGo = (...args: string[]) => [join(golang.folder, 'publish'), ...args]
  return [
    {
      language: 'python',
      folder: folderOf('python'),
      publish: (file) => inPython('publish.py', file),
      check: inPython('check.py'),
      env: { PYTHONPATH: python.folder, PYTHONDONTWRITEBYTECODE: '1' },
    },
    { language: 'go', folder: folderOf('go'), publish: (file) => inGo(file), check: inGo('--check') },
    { language: 'java', folder: folderOf('java'), publish: (file) => inJava(file), check: inJava('--check') },
    await kcatExample(folderOf('kcat'), python.folder),
  ]
}

export async function verdictsOf({ check = [], env, folder: cwd }: Example, questions: Question[]): Promise<Verdict[]> {
  const [command = '', ...args] = check
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const answers = Promise.all([text(child.stdout), text(child.stderr), ended])
  // If the process has ended, its exit code and output give the reason.
  child.stdin.on('error', () => {})
  for (const question of questions) {
    if (child.stdin.write(`${JSON.stringify(question)}\n`)) continue
    await Promise.race([new Promise((go) => child.stdin.once('drain', go)), ended])
    if (child.exitCode !== null) break
  }
  child.stdin.end()
  const [stdout, stderr, code] = await answers
  if (code !== 0) throw new Error(`${command} exited with ${code}: ${stderr.slice(-2_000)}`)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Verdict)
}
