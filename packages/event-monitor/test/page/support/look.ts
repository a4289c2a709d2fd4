// Takes wide and narrow pictures of each view with sample data.
// Usage: packages/cli/node packages/event-monitor/test/page/support/look.ts [FOLDER [VIEWS...]]
import { join } from 'node:path'
import { openBrowser } from '@orderflow/stack/browser'
import { type Picture, takePictures } from '../../../page/screenshots.ts'
import { builtPage } from './built-page.ts'
import { FakeMonitor } from './monitor.ts'
import { views } from './views.ts'

const folder = process.argv[2] ?? '/tmp/pictures'
const only = process.argv.slice(3)
const monitor = new FakeMonitor(await builtPage())
await monitor.start()
const browser = await openBrowser()
try {
  const pictures: Picture[] = Object.entries(views)
    .map(([name, { path, ready, before }]) => ({
      name,
      path,
      schemes: ['light' as const, 'dark' as const],
      before: async (page: import('playwright-core').Page) => {
        await page.locator(ready).first().waitFor()
        await before?.(page)
      },
    }))
    .filter(({ name }) => only.length === 0 || only.includes(name))
  await takePictures({ browser, url: monitor.url, folder: join(folder, 'wide'), pictures })
  await takePictures({ browser, url: monitor.url, folder: join(folder, 'narrow'), pictures, width: 400, height: 800 })
} finally {
  await browser.close()
  await monitor.stop()
}
