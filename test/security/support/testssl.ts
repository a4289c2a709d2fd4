import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

export interface Finding {
  id: string
  /** The severity: OK, INFO, LOW, MEDIUM, HIGH or CRITICAL. WARN or FATAL if the check itself failed. */
  severity: string
  finding: string
}

/**
 * Returns all findings of testssl.sh within three minutes. testssl.sh contacts no server except the one at `address`.
 * @throws {Error} if testssl.sh is missing
 */
export async function testssl(address: string): Promise<Finding[]> {
  let findings = await run(address)
  for (let repeats = 0; repeats < 5 && findings.some(isUnfinished); repeats++) {
    const repeated = await run(address, ['--server-defaults'])
    findings = findings.map(
      (finding) => (isUnfinished(finding) && repeated.find(({ id }) => id === finding.id)) || finding,
    )
  }
  return findings
}

/**
 * Returns true if testssl.sh could not perform one of its checks. Its check of session resumption closes connections at once.
 * If OpenSSL has not received a ticket by then, the second connection fails.
 */
function isUnfinished({ severity, finding }: Finding): boolean {
  return severity === 'WARN' && finding.includes('connect problem')
}

/** On Debian, testssl.sh has the name `testssl`. */
function findTestssl(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const candidates = folders.flatMap((folder) => ['testssl', 'testssl.sh'].map((name) => join(folder, name)))
  return candidates.find((candidate) => existsSync(candidate))
}

async function run(address: string, checks: string[] = []): Promise<Finding[]> {
  const program = findTestssl()
  if (!program) throw new Error('testssl.sh is missing: run apt-get install testssl.sh, or see https://testssl.sh/')
  const folder = mkdtempSync(join(tmpdir(), 'testssl-'))
  const file = join(folder, 'findings.json')
  const options = ['--quiet', '--color', '0', '--warnings', 'batch', '--nodns', 'none', '--jsonfile', file]
  try {
    // Its exit code is the number of failed checks. The findings are in the file.
    await promisify(execFile)(program, [...options, ...checks, address], { maxBuffer: 1e7 }).catch(() => {})
    return JSON.parse(readFileSync(file, 'utf8')) as Finding[]
  } finally {
    rmSync(folder, { recursive: true })
  }
}
