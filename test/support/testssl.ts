import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findTestssl } from '@orderflow/cli'

/** What testssl.sh says of one thing that it looked at. */
export interface Finding {
  id: string
  /** OK, INFO, LOW, MEDIUM, HIGH, CRITICAL; WARN and FATAL where it could not look. */
  severity: string
  finding: string
}

/**
 * All that testssl.sh finds of the listener at this host and port, within two minutes. It asks nobody else: no names, no lists of revoked
 * certificates.
 * @throws {Error} where there is no testssl.sh
 */
export async function testssl(address: string): Promise<Finding[]> {
  const program = findTestssl()
  if (!program) throw new Error('no testssl.sh: run `make -C tools test-security`, which says how to bring it')
  const folder = mkdtempSync(join(tmpdir(), 'testssl-'))
  const file = join(folder, 'findings.json')
  const options = ['--quiet', '--color', '0', '--warnings', 'batch', '--nodns', 'none', '--jsonfile', file]
  try {
    // It ends with the number of what it could not do; what it found is in the file.
    await promisify(execFile)(program, [...options, address], { maxBuffer: 1e7 }).catch(() => {})
    return JSON.parse(readFileSync(file, 'utf8')) as Finding[]
  } finally {
    rmSync(folder, { recursive: true })
  }
}
