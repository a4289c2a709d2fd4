import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'

/** A picture of a view. */
export interface Picture {
  name: string
  /** Path with its query. */
  path: string
  /** Light only by default. */
  schemes?: ('light' | 'dark')[]
  /** Actions before the picture, such as opening a step. */
  before?: (page: Page) => Promise<void>
}

interface Options {
  browser: Browser
  /** Address of the monitor. */
  url: string
  /** Folder of `NAME-light.webp` and `NAME-dark.webp`. */
  folder: string
  pictures: Picture[]
  /** Size in pixels; a higher page is taken whole. */
  width?: number
  height?: number
}

/** Takes pictures of views of a running monitor. */
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
        // Waits for requests and drawing; the number of problems is loaded after a second.
        await page.waitForTimeout(1500)
        writeFileSync(join(folder, `${name}-${colorScheme}.webp`), await pictureOf(page))
        await page.close()
      }
    } finally {
      await context.close()
    }
  }
}

/** Returns a picture of the whole page. It is a WebP, a third of a PNG, which playwright cannot make. */
async function pictureOf(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { cssContentSize } = await session.send('Page.getLayoutMetrics')
  const clip = { ...cssContentSize, scale: 1 }
  const options = { format: 'webp' as const, quality: 85, clip, captureBeyondViewport: true }
  const { data } = await session.send('Page.captureScreenshot', options)
  return Buffer.from(data, 'base64')
}
