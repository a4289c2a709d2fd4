import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey } from '@orderflow/service-kit/setup'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { expect } from 'chai'
import { bringTools, type Ended, gitleaks, run, semgrep } from './support/tools.ts'

const rules = 'test/security/rules/rules.yml'

await bringTools()

describe('the source code', () => {
  it('passes the security rules, and the tests of these rules pass', async () => {
    const tested = await semgrep(['--test', '--config', rules, 'test/security/rules/rules.js'])
    expect(tested.output).to.match(/(\d+)\/\1: ✓ All tests passed/)
    const { code, output } = await semgrep(['--error', '--config', rules, '--exclude', 'test/security/rules', '.'])
    expect(output).to.match(/Ran \d+ rules on [1-9]\d\d+ files: 0 findings/)
    expect(code).to.equal(0)
  })
})

describe('the history of commits', () => {
  it('contains no secret in any commit', async () => {
    const { code, output } = await gitleaks(['git', '--log-opts=--all'])
    expect(output)
      .to.match(/[1-9]\d* commits scanned/)
      .and.contain('no leaks found')
    expect(code).to.equal(0)
  })

  it('runs a scanner that finds API keys and private keys', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'leak-'))
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder })
    try {
      await git('init', '--quiet')
      const { key } = createApiKey({ name: 'leak', scopes: [], tenant: '' }, new Date())
      const body = Buffer.from(crypto.getRandomValues(new Uint8Array(600))).toString('base64')
      writeFileSync(join(folder, 'a.txt'), `${key}\n`)
      writeFileSync(join(folder, 'b.txt'), `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`)
      await git('add', '.')
      await git('commit', '--quiet', '--message', 'leak')
      const report = join(folder, 'report.json')
      const config = ['--config', join(import.meta.dirname, '../../.gitleaks.toml')]
      const { code, output } = await gitleaks(['git', ...config, '--report-path', report], folder)
      expect(output).to.contain('leaks found: 2')
      expect(code).to.equal(1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

const signatures = await run('npm', ['audit', 'signatures'])
const title = 'every npm package'
if (isAnswer(signatures)) {
  describe(title, () => {
    it('carries a signature of the registry', () => {
      expect(signatures.output).to.match(/[1-9]\d* packages? ha(s|ve) verified registry signatures/)
      expect(signatures.code, signatures.output).to.equal(0)
    })
  })
} else leaveOut(title, `npm audit signatures: ${signatures.output.trim().split('\n').at(-1)}`)

/** Returns true if the registry answers. A registry or mirror without signatures or keys is skipped. */
function isAnswer({ output }: Ended): boolean {
  return /verified registry signatures|invalid registry signatures/.test(output)
}
