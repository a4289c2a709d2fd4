import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'

export interface Picture {
  name: string
  path: string
  /** Colour schemes; default: light. */
  schemes?: ('light' | 'dark')[]
  before?: (page: Page) => Promise<void>
}

interface Options {
  browser: Browser
  url: string
  /** Folder for `NAME-light.webp` and `NAME-dark.webp`. */
  folder: string
  pictures: Picture[]
  /** Size of the browser window in pixels. The picture shows the whole page. */
  width?: number
  height?: number
}

export async function takePictures({ browser, url, folder, pictures, width = 1280, height = 800 }: Options) {
  mkdirSync(folder, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height }, reducedMotion: 'reduce' })
    try {
      for (const { name, path, schemes = ['light'], before } of pictures) {
        if (!schemes.includes(colorScheme)) continue
        const page = await context.newPage()
        await page.goto(url + path)
        await page.locator('main :is(h1)').first().waitFor({ state: 'attached' })
        await before?.(page)
        // Waits for the numbers in the navigation, which are loaded after a second.
        await page.waitForTimeout(1500)
        writeFileSync(join(folder, `${name}-${colorScheme}.webp`), await pictureOf(page))
        await page.close()
      }
    } finally {
      await context.close()
    }
  }
}

/**
 * Returns a WebP picture of a part of the page; by default, of the whole page. Playwright only makes PNG files, which are three times larger.
 */
export async function pictureOf(page: Page, part?: Locator): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { cssContentSize, cssVisualViewport } = await session.send('Page.getLayoutMetrics')
  const box = await part?.boundingBox()
  const clip = { ...(box ? { ...box, y: box.y + cssVisualViewport.pageY } : cssContentSize), scale: 1 }
  const options = { format: 'webp' as const, quality: 85, clip, captureBeyondViewport: true }
  const { data } = await session.send('Page.captureScreenshot', options)
  return Buffer.from(data, 'base64')
}
