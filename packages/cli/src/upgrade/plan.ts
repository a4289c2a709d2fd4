import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Step } from './steps.ts'

/** A version of the packages, with the versions of the programs that it runs. */
interface Release {
  version: string
  dapr: string
  kafka: string
  node: string
}

/** @param cli the folder of @orderflow/cli */
export function releaseIn(cli: string): Release {
  const read = (file: string) => JSON.parse(readFileSync(join(cli, file), 'utf8'))
  return { ...read('versions.json'), version: read('package.json').version }
}

export interface Plan {
  before: Release
  after: Release
  /** The branch of the upgrade, and the branch on which it starts. */
  branch: string
  base: string
  /** The steps between the two versions. */
  steps: readonly Step[]
}

export const updateTitle = ({ version }: Release) => `Update the packages to ${version}`
export const generateTitle = ({ version }: Release) => `Generate files with ${version}`

/** Returns the text that an upgrade prints before it starts. */
export function planText(plan: Plan): string {
  const { before, after, branch, steps } = plan
  const rows: [string, string, string][] = [
    ['', 'now', 'then'],
    ['packages', before.version, after.version],
    ['Dapr', before.dapr, after.dapr],
    ['Kafka', before.kafka, after.kafka],
    ['Node', before.node, after.node],
  ]
  const commits = [
    updateTitle(after),
    ...steps.map(({ title, why }) => `${title}. ${why}`),
    `${generateTitle(after)}, if this changes files`,
  ]
  const effects = steps.flatMap(({ outsideGit }) => outsideGit?.effect ?? [])
  return [
    ...rows.map((row) => `  ${row.map((cell) => cell.padEnd(10)).join('')}`.trimEnd()),
    '',
    `The upgrade creates the branch ${branch} with these commits, then runs make test:`,
    ...commits.map((line, index) => `  ${index + 1}. ${line}`),
    '',
    ...(effects.length > 0
      ? ['Stored data, topics and .env:', ...effects.map((line) => `  - ${line}`)]
      : ['Stored data, topics and .env stay the same.']),
    undoText(plan),
  ].join('\n')
}

/** Returns how to undo an upgrade. If the stack has been started since, it must be started again, too. */
export function undoText({ branch, base, steps }: Plan): string {
  const others = steps.flatMap(({ outsideGit }) => outsideGit?.undo ?? [])
  const git = `git switch ${base} && git branch -D ${branch}, then make up if the stack runs`
  if (others.length === 0) return `To undo it: ${git}.`
  return ['Git alone cannot undo it. To undo it:', `  - ${git}`, ...others.map((line) => `  - ${line}`)].join('\n')
}
