import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import commitlint from '@commitlint/lint'
import { repository } from './texts/files.ts'

interface Settings {
  /** The last commit whose subject is not checked. */
  since: string
  /** Verbs in the base form that a subject may begin with. */
  verbs: string[]
}

const { since, verbs }: Settings = JSON.parse(readFileSync(new URL('commits.json', import.meta.url), 'utf8'))

const isVersion = (header: string) => /^\d+\.\d+\.\d+$/.test(header)

/** Rules of commitlint. Its parser expects a type such as `fix:`, which subjects here do not have. */
const imperative = ({ header }: { header?: string | null }): [boolean, string] => {
  const [first = ''] = (header ?? '').split(' ')
  return [
    isVersion(header ?? '') || verbs.includes(first),
    `“${first}” is not a known verb: begin with a verb in the base form, such as “Add”, or add the verb to tools/language/commits.json`,
  ]
}

/** Returns the problems of a commit's message, one line for each problem. */
export async function wrongSubject(message: string): Promise<string[]> {
  const { input, errors } = await commitlint(
    message,
    {
      'header-max-length': [2, 'always', 72],
      'header-full-stop': [2, 'never', '.'],
      'body-leading-blank': [2, 'always'],
      imperative: [2, 'always'],
    },
    { plugins: { language: { rules: { imperative } } } },
  )
  const [subject] = input.split('\n')
  return errors.map((error) => `“${subject}”: ${error.message}`)
}

/** Returns the subjects of the commits since the commit in commits.json; undefined if this repository does not have that commit. */
export function subjectsSince(): string[] | undefined {
  try {
    const args = ['log', '--no-merges', '--format=%s', `${since}..HEAD`]
    return execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter(Boolean)
  } catch {
    return undefined
  }
}

export async function wrongSubjects(): Promise<string[]> {
  const subjects = subjectsSince()
  if (!subjects) {
    console.log(`not run: commit subjects (commit ${since.slice(0, 8)} is missing in this clone)`)
    return []
  }
  return (await Promise.all(subjects.map(wrongSubject))).flat()
}
