// Usage: node test/repository/unless-passed.ts NAME PATH... -- COMMAND... Runs tests, unless they have already passed on this machine with the same
// files, Node and browser. In that case it prints the reason and 0 as the number of tests.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { findBrowser } from '@orderflow/stack/browser'
import { sourceFiles } from '@orderflow/test-kit/stacks'
import { hasPassed, whyLeftOut } from './passed.ts'

const [name = '', ...others] = process.argv.slice(2)
const paths = others.slice(0, others.indexOf('--'))
const [command = '', ...args] = others.slice(paths.length + 1)

const digest = digestOf()
const reason = whyLeftOut(name, digest)
if (reason === undefined) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  process.exitCode = status ?? 1
  if (status === 0) hasPassed(name, digest)
} else {
  console.log(`not run: ${name} (${reason})\n0 passed, 0 failed`)
}

function digestOf(): string {
  const hash = createHash('sha256').update(JSON.stringify([process.version, browser(), command, args]))
  const files = sourceFiles(process.cwd(), ...paths)
  const missing = paths.find((path) => !path.startsWith(':') && sourceFiles(process.cwd(), path).length === 0)
  if (missing) throw new Error(`no files found at ${missing}: correct the path in tools/Makefile`)
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

function browser() {
  const path = findBrowser()
  if (path === undefined) return undefined
  const file = realpathSync(path)
  return [file, statSync(file).mtimeMs, statSync(file).size]
}
