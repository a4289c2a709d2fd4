/**
 * Checks commit messages with commitlint. As a program, checks the message in the file that Git's hook passes.
 * Usage: `node tools/language/commits.ts MESSAGE_FILE`
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import commitlint from '@commitlint/lint'

/** The last commit whose subject is not checked, and the verbs in the base form with which a subject may begin. */
const { since, verbs }: { since: string; verbs: string[] } = JSON.parse(
  readFileSync(new URL('commits.json', import.meta.url), 'utf8'),
)

/** Returns the problems of a commit's message or, without `hasBody`, of its subject: one line for each. */
export async function messageProblems(message: string, hasBody = true): Promise<string[]> {
  const { input, errors } = await commitlint(
    message,
    {
      'header-max-length': [2, 'always', 72],
      'header-full-stop': [2, 'never', '.'],
      'body-leading-blank': [2, 'always'],
      'body-empty': [hasBody ? 2 : 0, 'never'],
      'type-enum': [2, 'always', verbs],
      'type-empty': [2, 'never'],
    },
    {
      // The first word is the type of commitlint's rules.
      parserOpts: { headerPattern: /^(\S+) (.+)$/, headerCorrespondence: ['type', 'subject'] },
      // make -C tools version writes these commits.
      ignores: [(text) => /^(?:Release|Record the commit of release) \d/.test(text)],
    },
  )
  const [subject] = input.split('\n')
  return errors.map(({ name, message }) => {
    const advice = 'begin with a verb in the base form, such as “Add”, or add the verb to tools/language/commits.json'
    return `“${subject}”: ${name.startsWith('type-') ? advice : message}`
  })
}

/** Returns the problems of all subjects since the commit in commits.json, or none if the clone lacks that commit. */
export async function subjectProblems(): Promise<string[]> {
  const args = ['log', '--no-merges', '--format=%s', `${since}..HEAD`]
  const { status, stdout } = spawnSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' })
  if (status !== 0) console.log(`not run: commit subjects (commit ${since.slice(0, 8)} is missing in this clone)`)
  const subjects = stdout.split('\n').filter(Boolean)
  return (await Promise.all(subjects.map((subject) => messageProblems(subject, false)))).flat()
}

if (import.meta.main) {
  const message = readFileSync(process.argv[2] ?? '', 'utf8').replace(/^#.*\n/gm, '')
  const problems = await messageProblems(message)
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}
