#!/usr/bin/env node
// The command for npx in this repository. It is JavaScript, because an older Node cannot load main.ts.
import { readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'))
const needed = engines.node.replace('>=', '')
const [major, minor] = needed.split('.').map(Number)
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) {
  await import('./main.ts')
} else {
  console.error(
    `envelope: needs Node ${needed} or newer in this repository, and this is ${process.version}: use ./orderflow envelope ..., which brings its own Node`,
  )
  process.exitCode = 2
}
