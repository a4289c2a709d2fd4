import { rmSync } from 'node:fs'
import { relative } from 'node:path'
import { buildPackages, packPackages } from './build.ts'
import { compileConsumer, packageProblems, sizeOf, sizeProblems } from './check.ts'
import { installArchives } from './consumer.ts'
import { signatureChanges } from './signatures.ts'

// `VERSION=0.3.0` builds a version for a test of `./orderflow upgrade`.
await buildPackages(process.env.VERSION)
const archives = await packPackages()
for (const archive of archives.values()) console.log(`${relative(process.cwd(), archive)}  ${sizeOf(archive)} KiB`)

const { folder, packages } = await installArchives(archives)
try {
  const { files, errors } = await compileConsumer(folder, packages)
  const problems = [...errors, ...sizeProblems(archives), ...packages.flatMap((each) => packageProblems(each, files))]
  report(problems.length > 0 ? problems : changedSignatures())
} finally {
  rmSync(folder, { recursive: true })
}

function changedSignatures(): string[] {
  const changes = signatureChanges(folder, packages, { accept: process.argv.includes('--accept') })
  const advice = 'public signatures have changed: add them to CHANGELOG.md, then run make -C tools packages ACCEPT=1'
  return changes.length > 0 ? [...changes, advice] : []
}

function report(problems: string[]): void {
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}
