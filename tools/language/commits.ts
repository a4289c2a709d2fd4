/**
 * Checks commit messages with commitlint: the message in a file, which git's hook passes, or all subjects since the commit in commits.json.
 * Usage: `node tools/language/commits.ts [MESSAGE_FILE]`
 */
import { readFileSync } from 'node:fs'
import { wrongSubject, wrongSubjects } from './subjects.ts'

const [file] = process.argv.slice(2)
const wrong = file ? await wrongSubject(readFileSync(file, 'utf8').replace(/^#.*\n/gm, '')) : await wrongSubjects()
for (const line of wrong) console.error(line)
process.exitCode = wrong.length > 0 ? 1 : 0
