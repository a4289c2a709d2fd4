import { expect } from 'chai'
import { violationsOf } from './support/axe.ts'
import { pageTests } from './support/page-tests.ts'
import { views } from './support/views.ts'

describe('accessibility of the page', () => {
  const tests = pageTests()

  for (const [name, { path, ready, before: prepare }] of Object.entries(views)) {
    it(`passes the checks of axe and connects only to the monitor: ${name}`, async () => {
      const { page, errors, strangers } = await tests.tab(path)
      await page.locator(ready).first().waitFor()
      await prepare?.(page)
      await page.locator('.badge').first().waitFor()
      for (const width of [1280, 400]) {
        await page.setViewportSize({ width, height: 800 })
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          expect(await violationsOf(page), `${colorScheme}, ${width} pixels`).to.deep.equal([])
        }
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        expect(overflow, `pixels outside of the window, at a width of ${width}`).to.be.at.most(0)
      }
      expect({ errors: errors.filter((each) => !each.includes('404')), strangers }).to.deep.equal({
        errors: [],
        strangers: [],
      })
    })
  }
})
