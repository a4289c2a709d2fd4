import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export async function violationsOf(page: Page): Promise<string[]> {
  // The browser's developer tools run axe, because the page's security policy forbids scripts of tests.
  if (!(await page.evaluate(() => 'axe' in globalThis))) {
    const session = await page.context().newCDPSession(page)
    await session.send('Runtime.evaluate', { expression: axe })
  }
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } }
    const { violations } = await axe.run()
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
    )
  })
}
interface Violation {
  id: string
  nodes: { target: string[]; failureSummary: string }[]
}
