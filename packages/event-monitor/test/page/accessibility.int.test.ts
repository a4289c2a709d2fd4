import { expect } from 'chai'
import { violationsOf } from './support/axe.ts'
import { pageTests } from './support/page-tests.ts'
import { views } from './support/views.ts'

describe('every view of the page', () => {
  const tests = pageTests()

  for (const [name, { path, ready, before: prepare }] of Object.entries(views)) {
    it(`has nothing that axe finds, in light and dark, wide and narrow, and asks nobody else: ${name}`, async () => {
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
        expect(overflow, `pixels that must be scrolled to the side, of ${width}`).to.be.at.most(0)
      }
      expect({ errors: errors.filter((each) => !each.includes('404')), strangers }).to.deep.equal({
        errors: [],
        strangers: [],
      })
    })
  }
})
